"""`cocite serve`: the HTTP interface and the web page.

A request goes through, in this order:

    front.py      cached answers at once; limits, headers, metrics and a line of log for every request
    app.py        routes and what they take, with FastAPI; OpenAPI comes from here
    questions.py  what is asked: a key, and a function of the web that gives the answer
    service.py    the cache, the work under way, the limits that fit the load
    gate.py       so many threads at once, so many waiting, the rest is sent away
    holding.py    the store as it is now; a new generation takes its place when it is warm
    replies.py    an answer as bytes: JSON, ETag, gzip; errors of one shape
    pages.py      the web page
    run.py        processes, signals, sockets
"""
