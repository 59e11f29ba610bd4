/// What is said of each archive of `hostile/`, whose path stands as its name here.
let hostileMessages: [String: String] = [
  "absolute.aar":
    "refused: the archive 'absolute.aar' holds '/etc/passwd', whose name is absolute",
  "absolute.tar":
    "refused: the archive 'absolute.tar' holds '/etc/passwd', whose name is absolute",
  "absolute.zip":
    "refused: the archive 'absolute.zip' holds '/etc/passwd', whose name is absolute",
  "backslash.zip":
    "refused: the archive 'backslash.zip' holds 'a\\b', whose name has a backslash",
  "below-file.tar":
    "refused: the archive 'below-file.tar' holds 'a/b', which lies below a file",
  "below-link.tar":
    "refused: the archive 'below-link.tar' holds 'a/b', which lies below a link",
  "block-lz4.aar":
    "corrupt: a compressed block is damaged in block-lz4.aar",
  "block-size.aar":
    "refused: the archive 'block-size.aar' has a block of 1099511627776 bytes, and 16 MiB is the limit",
  "block-zlib.aar":
    "corrupt: a compressed block is damaged in block-zlib.aar",
  "block.aar":
    "corrupt: a compressed block is damaged in block.aar",
  "block.tar":
    "refused: the archive 'block.tar' holds 'bad', a device",
  "bomb-links.tar":
    "refused: the archive 'bomb-links.tar' unpacks to more than 112640000 bytes, which is the limit",
  "bomb.aar":
    "refused: the archive 'bomb.aar' unpacks to more than 67108864 bytes, which is the limit",
  "bomb.tar.gz":
    "refused: the archive 'bomb.tar.gz' unpacks to more than 67108864 bytes, which is the limit",
  "bomb.zip":
    "refused: the archive 'bomb.zip' unpacks to more than 67108864 bytes, which is the limit",
  "bytes.zip":
    "corrupt: the central directory does not agree with what stands before 'Level' in bytes.zip",
  "bzip2.tar.bz2":
    "refused: the archive 'bzip2.tar.bz2' is compressed with bzip2, which is not read",
  "bzip2.zip":
    "refused: the archive 'bzip2.zip' holds 'b', compressed with bzip2, which is not read",
  "count.zip":
    "corrupt: the central directory is longer than its entries in count.zip",
  "crc.zip":
    "corrupt: 'Level' has a wrong sum in crc.zip",
  "cut-block.aar":
    "corrupt: a block is cut short in cut-block.aar",
  "cut.aar":
    "corrupt: a file is cut short in cut.aar",
  "cut.tar":
    "corrupt: a file is cut short in cut.tar",
  "cut.tar.gz":
    "corrupt: compressed data is cut short in cut.tar.gz",
  "cut.zip":
    "corrupt: the end of the zip file is missing in cut.zip",
  "data-link.aar":
    "refused: the archive 'data-link.aar' holds 'd', which is no file and has content",
  "deep.tar":
    "refused: the archive 'deep.tar' holds 'd/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/…', which lies more than 2000 folders deep",
  "device.aar":
    "refused: the archive 'device.aar' holds 'd', a device",
  "device.tar":
    "refused: the archive 'device.tar' holds 'bad', a device",
  "dotdot-pax.tar":
    "refused: the archive 'dotdot-pax.tar' holds '../b', whose name has a part '..'",
  "dotdot.aar":
    "refused: the archive 'dotdot.aar' holds 'a/../../b', whose name has a part '..'",
  "dotdot.tar":
    "refused: the archive 'dotdot.tar' holds 'a/../../b', whose name has a part '..'",
  "dotdot.zip":
    "refused: the archive 'dotdot.zip' holds '../b', whose name has a part '..'",
  "empty-block.aar":
    "corrupt: an empty block is not the last one in empty-block.aar",
  "empty-part.tar":
    "refused: the archive 'empty-part.tar' holds 'a//b', whose name has an empty part",
  "empty-target.aar":
    "refused: the archive 'empty-target.aar' holds 'd', a link whose target is empty, too long, or has a NUL",
  "encrypted.aar":
    "refused: the archive 'encrypted.aar' is an encrypted Apple Archive, which is not read",
  "encrypted.zip":
    "refused: the archive 'encrypted.zip' holds 'Level', which is encrypted",
  "far.zip":
    "corrupt: 'Level' lies outside of the file's part for entries in far.zip",
  "field.aar":
    "corrupt: the field 'PAT' of an entry is damaged in field.aar",
  "file-over-folder.tar":
    "refused: the archive 'file-over-folder.tar' holds 'a', below which other entries lie",
  "folder-bytes.zip":
    "refused: the archive 'folder-bytes.zip' holds 'p', a folder that has bytes",
  "global.tar":
    "refused: the archive 'global.tar' has a global header that names or measures all entries, which is not read",
  "hard-link-later.tar":
    "refused: the archive 'hard-link-later.tar' holds 'h', a hard link to 'z', which is no file before it",
  "hard-link-out.tar":
    "refused: the archive 'hard-link-out.tar' holds '../out', whose name has a part '..'",
  "header.aar":
    "corrupt: an entry's header is too short in header.aar",
  "huge.tar":
    "refused: the archive 'huge.tar' unpacks to more than 67108864 bytes, which is the limit",
  "local.zip":
    "corrupt: the central directory does not agree with what stands before 'Level' in local.zip",
  "lone.tar":
    "corrupt: other bytes follow the end mark in lone.tar",
  "long-header.tar":
    "refused: the archive 'long-header.tar' has a name or header of 1048593 bytes, and 1 MiB is the limit",
  "long-part.tar":
    "refused: the archive 'long-part.tar' holds 'pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp…', whose name has a part of more than 255 bytes",
  "longer.zip":
    "corrupt: 'Level' does not have as many bytes as the central directory says in longer.zip",
  "lzbitmap.aar":
    "refused: the archive 'lzbitmap.aar' is compressed with LZBITMAP, which is not read",
  "lzma.zip":
    "refused: the archive 'lzma.zip' holds 'b', compressed with LZMA, which is not read",
  "magic.aar":
    "corrupt: an entry does not begin as it should in magic.aar",
  "manifest.aar":
    "corrupt: Manifest.json is no JSON with an assetPackID in manifest.aar",
  "negative.tar":
    "corrupt: a header has a wrong sum or number in negative.tar",
  "no-data.aar":
    "refused: the archive 'no-data.aar' holds 'd', a file without its content",
  "no-end.tar":
    "corrupt: the archive, which does not have its end mark, is cut short in no-end.tar",
  "no-name.aar":
    "refused: the archive 'no-name.aar' holds a file or link without a name",
  "no-target.aar":
    "refused: the archive 'no-target.aar' holds 'd', a link without a target",
  "not-utf8.aar":
    #"refused: the archive 'not-utf8.aar' holds 'z\xff', whose name is not UTF-8"#,
  "not-utf8.tar":
    #"refused: the archive 'not-utf8.tar' holds 'z\xff\xfezt', whose name is not UTF-8"#,
  "not-utf8.zip":
    #"refused: the archive 'not-utf8.zip' holds 'z\xff\xfez', whose name is not UTF-8"#,
  "nothing":
    "wrong kind: 'nothing' is not an archive of any kind that is read",
  "nul.aar":
    "refused: the archive 'nul.aar' holds 'a�b', whose name has a NUL",
  "overlap.zip":
    "corrupt: entries overlap in overlap.zip",
  "parts.zip":
    "refused: the archive 'parts.zip' is one part of a zip file, which is not read",
  "patch.aar":
    "refused: the archive 'patch.aar' is a patch or a list of files, which is not read",
  "pax.tar":
    "corrupt: a pax header is damaged in pax.tar",
  "pipe.tar":
    "refused: the archive 'pipe.tar' holds 'bad', a pipe",
  "pipe.zip":
    "refused: the archive 'pipe.zip' holds 'p', a pipe",
  "prefix.zip":
    "refused: the archive 'prefix.zip' has 9 bytes before the zip file",
  "seven.7z":
    "refused: the archive 'seven.7z' is a 7z archive, which is not read",
  "shorter.zip":
    "corrupt: 'Level' does not have as many bytes as the central directory says in shorter.zip",
  "socket.aar":
    "refused: the archive 'socket.aar' holds 'd', a socket",
  "sparse-pax.tar":
    "corrupt: the map of the sparse file 's' is damaged in sparse-pax.tar",
  "sparse-version.tar":
    "refused: the archive 'sparse-version.tar' holds 's', a sparse file of an unknown version",
  "sparse-overlap.tar":
    "corrupt: the map of the sparse file 's' is damaged in sparse-overlap.tar",
  "sparse-long.tar":
    "corrupt: the map of the sparse file 's' is damaged in sparse-long.tar",
  "sparse-bomb.tar":
    "refused: the archive 'sparse-bomb.tar' unpacks to more than 67108864 bytes, which is the limit",
  "sparse-pieces.tar":
    "refused: the archive 'sparse-pieces.tar' holds 's', a sparse file of more than 1000000 pieces",
  "sparse-end.tar":
    "corrupt: the map of the sparse file 's' is damaged in sparse-end.tar",
  "stored-size.aar":
    "refused: the archive 'stored-size.aar' has a block of 4611686018427387904 bytes, and 16 MiB is the limit",
  "sum.tar":
    "corrupt: a header has a wrong sum or number in sum.tar",
  "sum.tar.gz":
    "corrupt: compressed data is damaged in sum.tar.gz",
  "text.tar":
    "wrong kind: 'text.tar' is not an archive of any kind that is read",
  "trailing.tar":
    "corrupt: other bytes follow the end mark in trailing.tar",
  "trailing.tar.gz":
    "corrupt: other bytes follow the compressed data in trailing.tar.gz",
  "trailing.zip":
    "refused: the archive 'trailing.zip' has 4 bytes after the end of the zip file",
  "twice.aar":
    "refused: the archive 'twice.aar' holds 'empty', twice",
  "twice.tar":
    "refused: the archive 'twice.tar' holds 'a', twice",
  "twice.zip":
    "refused: the archive 'twice.zip' holds 'aa', twice",
  "two-fields.aar":
    "refused: the archive 'two-fields.aar' has an entry with two fields 'PAT'",
  "unknown.aar":
    "refused: the archive 'unknown.aar' is compressed with an unknown code, '?', which is not read",
  "unknown.tar":
    "refused: the archive 'unknown.tar' holds 'u', of kind 'Z', which is not read",
  "volume.tar":
    "refused: the archive 'volume.tar' is one of several volumes, which are not read",
  "whiteout.aar":
    "refused: the archive 'whiteout.aar' holds 'd', a whiteout",
  "window.tar.zst":
    "refused: the archive 'window.tar.zst' needs more than 8 MiB of memory to decompress",
  "wrong-field.aar":
    "refused: the archive 'wrong-field.aar' has a field 'TYP' of another kind than it should be",
  "xz.aar":
    "refused: the archive 'xz.aar' is compressed with LZMA, which is not read",
  "xz.tar.xz":
    "refused: the archive 'xz.tar.xz' is compressed with xz, which is not read",
]
