"""Lifetimes of everything that runs in the background."""

from appliance.quests.manager import ManagerClosed, QuestManager
from appliance.quests.quest import Quest, QuestRemoved

__all__ = ["ManagerClosed", "Quest", "QuestManager", "QuestRemoved"]
