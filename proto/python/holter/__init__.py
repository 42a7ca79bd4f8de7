"""Holter from Python: recordings in SQL, and the published stream of a daemon.

    from holter import Recording
    with Recording('sim.hrec') as recording:
        for row in recording.query('SELECT source, sum(bytes) AS bytes FROM window_pair GROUP BY 1'):
            print(row['source'], row['bytes'])

    from holter import Stream
    with Stream('ipc:///run/user/1000/holter/holterd.sock', topics=['totals']) as stream:
        for message in stream:
            print(message.job, message.fields['window'], message.fields['sent_bytes'])
"""
from .recording import HolterError, Recording
from .tables import VERSION as __version__

__all__ = ['HolterError', 'Message', 'Recording', 'Stream', '__version__']


def __getattr__(name):
    """Stream needs pyzmq and msgpack, which readers of recordings do without."""
    if name in ('Message', 'Stream'):
        from . import stream
        return getattr(stream, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
