"""The folder that a job leaves: one archive of a part for each shard."""

from pyspark import StorageLevel

import rekey_filter

ON_DISK = StorageLevel.DISK_ONLY
# No reader of an archive looks at names that begin so.
WORK, REFUSED = "_work", "_refused"


class Folder:
    """A folder in any file system that Hadoop knows."""

    def __init__(self, context, uri):
        self.jvm = context._jvm
        self.uri = uri.rstrip("/")
        self.system = self._path(self.uri).getFileSystem(context._jsc.hadoopConfiguration())
        self.refused = f"{self.uri}/{REFUSED}"

    def exists(self):
        return self.system.exists(self._path(self.uri))

    def save(self, rewritten, with_archive):
        """Writes what the shards became. An archive that is refused is not written, its list of refusals is."""
        self._make(self._path(self.uri))
        kinds = rekey_filter.FILES if with_archive else ["refused"]
        for kind in kinds:
            texts = rewritten.filter(lambda record, kind=kind: record[0] == kind).values()
            texts.saveAsTextFile(f"{self.uri}/{WORK}/{kind}")
        # Nothing has its final name before everything is written.
        for kind in kinds:
            for shard, file in self._parts(kind):
                name = rekey_filter.name(shard) + rekey_filter.FILES[kind]
                place = f"{self.uri}/{name}" if with_archive else f"{self.refused}/{name}"
                self._rename(file, self._path(place))
        self.system.delete(self._path(f"{self.uri}/{WORK}"), True)

    def _parts(self, kind):
        """The shards that have anything of a kind, with the file it was written to."""
        for status in self.system.listStatus(self._path(f"{self.uri}/{WORK}/{kind}")):
            name = status.getPath().getName()
            if name.startswith("part-") and status.getLen() > 0:
                yield int(name[len("part-") :]), status.getPath()

    def _rename(self, old, new):
        self._make(new.getParent())
        if not self.system.rename(old, new):
            raise OSError(f"cannot rename {old} to {new}")
        self.system.setPermission(new, self._permission("600"))

    def _make(self, path):
        """Makes a folder for its owner's eyes alone: what a store holds is in it."""
        self.system.mkdirs(path, self._permission("700"))

    def _permission(self, octal):
        return self.jvm.org.apache.hadoop.fs.permission.FsPermission(octal)

    def _path(self, text):
        return self.jvm.org.apache.hadoop.fs.Path(text)
