"""Random histories of quests and callers, played in virtual time and held against the rules of `QuestManager`.

A history is drawn (`plans`, `drawing`) and played (`course`): quests take their steps (`steps`), callers call the
manager (`callers`), a model keeps account (`world`), what must be true is checked (`rules`), and what happened is
counted (`corners`).
"""
