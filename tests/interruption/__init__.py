"""Random histories of interruptions: the lane, the generation counter and the table of the conversation together.

A history is a row of bytes, which is read choice by choice (`tape`): hypothesis can shrink it, and a seed draws the
same one again. In the order that the bytes say (`course`), the microphone and the button (`edges`), the workers
(`workers`), the card (`player`) and the loop act in a world that carries the table's effects out as the conductor does
(`world`). What must be true is checked at each step (`rules`), and what happened is counted (`corners`).
"""
