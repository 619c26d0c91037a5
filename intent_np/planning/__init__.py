"""What to recompute and what to keep: the plan of an execution group, chosen by an e-graph.

A plan is a program over renamed axes.  Each loop gets its own copy of the axis that it walks: a reduction in the second
loop is `reduce over columns@2`, so that nothing but the term tells later passes what the plan is.

    problem.py    a group as a problem: axes, what may become of each, extents to price with; or why it has no plan
    order.py      its statements in slots between barriers, and what may be computed in which
    schema.py     the e-graph's language: values, places, executions, and the rules between them
    places.py     the loops in which an execution can stand, and their order, as facts
    saturate.py   values and facts into the e-graph, rules until nothing is new, out as an AND-OR graph
    andor.py      that graph with canonical numbers
    machine.py    what the machine can do in a second, from `costs.json`
    work.py       what an execution asks of the machine, by kind
    search.py     what a pick of executions costs, each paid once
    cheapest.py   the cheapest pick
    registers.py  what of it a thread holds
    plan.py       the chosen executions as a term: printed, parsed, checked
    layout.py     what is stored and synced where, in a group that has a plan
    apply.py      a plan as a group over renamed axes
    choose.py     all of it over the roles of axes and the extents of blocks
    explain.py    the alternatives and their costs, for people
"""
