"""`cocite serve`: the HTTP API and the web page. A request passes through these, in this order:

run.py         processes, signals, sockets, limits on the head of a request
front.py       cached answers at once; headers, metrics and a log line for every request
app.py         FastAPI: routes, errors in one shape; their description, from the declarations of operations
questions.py   questions: parameters, cache keys, limits that follow the load, the answer
service.py     the cache, questions in progress, the load, the current snapshot of the store; cache.py, metrics.py
threads.py     threads and their bounded queue
responses.py   replies: JSON, ETag, gzip, errors
page/          the web page
"""
