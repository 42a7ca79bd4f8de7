"""Recordings in SQL. See docs/sql.md for the tables of windows, hrec(5) for the others."""
import os
import sqlite3
import urllib.parse

from .tables import APPLICATION_ID, EXTENSION, SCHEMA

WINDOW_TABLES = ('window_pair', 'window_rank', 'window_call', 'window_link', 'window_latency')


class HolterError(Exception):
    """What is wrong, in a sentence."""


class Recording:
    """A recording, opened for reading.

    path       file .hrec; may still be written
    extension  path of holter_sql; by default the variable HOLTER_SQL, else where it is installed
    """

    def __init__(self, path, extension=None):
        try:
            kind = self._open(path, '')
        except sqlite3.Error as error:
            kind = self._open_on_read_only_media(path, error)
        if kind != [APPLICATION_ID, SCHEMA]:
            self.connection.close()
            raise HolterError(f'{path}: no recording of schema {SCHEMA}')
        self.path = path
        self.missing = self._load(os.fspath(extension or os.environ.get('HOLTER_SQL') or EXTENSION))

    def _open(self, path, options, locking='NORMAL'):
        """Connect, and read which kind of file it is."""
        uri = 'file:' + urllib.parse.quote(os.fsencode(os.path.abspath(path))) + '?mode=ro' + options
        connection = sqlite3.connect(uri, uri=True)
        try:
            connection.row_factory = sqlite3.Row
            connection.execute(f'PRAGMA locking_mode = {locking}')
            kind = [connection.execute(f'PRAGMA {name}').fetchone()[0] for name in ('application_id', 'user_version')]
        except sqlite3.Error:
            connection.close()
            raise
        self.connection = connection
        return kind

    def _open_on_read_only_media(self, path, error):
        """There the index of a log cannot be created, and no process writes the file."""
        there = [os.path.exists(os.fsdecode(path) + suffix) for suffix in ('', '-shm', '-journal', '-wal')]
        try:
            if there == [True, False, False, True]:
                return self._open(path, '&vfs=unix-none', 'EXCLUSIVE')
            if there == [True, False, False, False]:
                return self._open(path, '&immutable=1')
        except sqlite3.Error:
            pass
        raise HolterError(f'{path}: {error}') from error

    def _load(self, extension):
        """Load the extension. Returns why there are no tables of windows, or None."""
        if not hasattr(self.connection, 'enable_load_extension'):
            return 'the sqlite3 of this Python cannot load extensions'
        self.connection.enable_load_extension(True)
        try:
            self.connection.load_extension(extension.removesuffix('.so'))
        except sqlite3.Error as error:
            return f'{extension} cannot be loaded: {error}'
        finally:
            self.connection.enable_load_extension(False)
        return None

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def execute(self, sql, parameters=()):
        """A cursor of sqlite3 over the rows of one statement; rows are sqlite3.Row."""
        try:
            return self.connection.execute(sql, parameters)
        except sqlite3.Error as error:
            if self.missing and any(table in sql for table in (*WINDOW_TABLES, 'moment')):
                raise HolterError(f'{self.path}: the tables of windows are not there: {self.missing}') from error
            raise HolterError(f'{self.path}: {error}') from error

    def query(self, sql, parameters=()):
        """The rows of one statement, as a list of dictionaries."""
        return [dict(row) for row in self._read(self.execute(sql, parameters))]

    def _read(self, cursor):
        """The rows of a cursor: the recording may be damaged behind the first one."""
        try:
            return cursor.fetchall()
        except sqlite3.Error as error:
            raise HolterError(f'{self.path}: {error}') from error

    def _select(self, table, begin, end):
        if table not in self.tables():
            raise HolterError(f'{self.path}: there is no table {table}')
        conditions = [f'begin_ns {sign} moment(?)' for sign, at in (('>=', begin), ('<', end)) if at is not None]
        where = ' WHERE ' + ' AND '.join(conditions) if conditions else ''
        return f'SELECT * FROM {table}{where}', [str(at) for at in (begin, end) if at is not None]

    def tables(self):
        """Names of all tables."""
        plain = [row[0] for row in self.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return plain + [table for table in WINDOW_TABLES if table not in plain]

    def table(self, name, begin=None, end=None):
        """The rows of a table, as a list of dictionaries.

        begin, end  of tables with a column begin_ns: rows from one time up to another, as `moment()` takes them:
                    '10:05', '+90s', '-10s', '40%', '2026-11-26T15:04:40Z', or nanoseconds since 1970
        """
        return self.query(*self._select(name, begin, end))

    def to_pandas(self, what, parameters=(), begin=None, end=None):
        """A data frame of a table, or of the rows of a statement. Needs pandas."""
        try:
            import pandas
        except ImportError as error:
            raise HolterError('to_pandas() needs pandas, which this Python does not have') from error
        if what in self.tables():
            what, parameters = self._select(what, begin, end)
        cursor = self.execute(what, parameters)
        names = [column[0] for column in cursor.description]
        return pandas.DataFrame([tuple(row) for row in self._read(cursor)], columns=names)
