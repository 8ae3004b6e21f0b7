"""`cocite serve`: the HTTP API and the web page. A request passes through these, in this order:

connection.py  limits on the head of a request
front.py       cached answers at once; headers, metrics and a log line for every request
app.py         FastAPI: routes, errors in one shape; openapi.py describes them from the declarations of operations
questions.py   questions: parameters, cache keys, limits that follow the load, the answer
service.py     the cache, questions in progress, the load; cache.py, metrics.py
threads.py     threads and their bounded queue
store.py       the current snapshot of the store, replaced when the store changes
responses.py   replies: JSON, ETag, gzip, errors
page/          the web page
run.py         processes, signals, sockets
"""
