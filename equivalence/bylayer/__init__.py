"""A network compared layer by layer, with the weights of one layer in memory at a time.

A unit is a block that repeats, such as one layer of a decoder. It is fed what the reference feeds
it. All around the units is one part more, in which a stand-in takes the place of each unit: that
part proves that both sides join the units alike.

units: the units of a network, by the layers of both sides.
whole: both networks without their weights, and what each unit gets and gives.
torch_parts, mindspore_parts: a unit, or what is around the units, as a network of its own.
parts: the parts of a case, each a case for the engine.
compare: checks all parts for one verdict.
spread: spreads the parts over the processes of a launcher.
diagnose: finds the culprits in the parts that differ.
"""
