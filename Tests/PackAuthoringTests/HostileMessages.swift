/// The error for each archive of `hostile/`, in which the name replaces the path.
let hostileMessages: [String: String] = [
  "absolute.aar":
    "refused: 'absolute.aar': contains '/etc/passwd', whose name is absolute",
  "absolute.tar":
    "refused: 'absolute.tar': contains '/etc/passwd', whose name is absolute",
  "absolute.zip":
    "refused: 'absolute.zip': contains '/etc/passwd', whose name is absolute",
  "backslash.zip":
    "refused: 'backslash.zip': contains 'a\\b', whose name has a backslash",
  "below-file.tar":
    "refused: 'below-file.tar': contains 'a/b', which is below a file",
  "below-link.tar":
    "refused: 'below-link.tar': contains 'a/b', which is below a link",
  "block-lz4.aar":
    "corrupt: 'block-lz4.aar': a compressed block is damaged",
  "block-size.aar":
    "refused: 'block-size.aar': has a block of 1099511627776 bytes; the limit is 16 MiB",
  "block-xz.aar":
    "corrupt: 'block-xz.aar': a compressed block is damaged",
  "block-zlib.aar":
    "corrupt: 'block-zlib.aar': a compressed block is damaged",
  "block.aar":
    "corrupt: 'block.aar': a compressed block is damaged",
  "block.tar":
    "refused: 'block.tar': contains 'bad', a device",
  "bomb-links.tar":
    "refused: 'bomb-links.tar': unpacks to more than 112640000 bytes, the limit",
  "bomb.aar":
    "refused: 'bomb.aar': unpacks to more than 67108864 bytes, the limit",
  "bomb.tar.gz":
    "refused: 'bomb.tar.gz': unpacks to more than 67108864 bytes, the limit",
  "bomb.zip":
    "refused: 'bomb.zip': unpacks to more than 67108864 bytes, the limit",
  "bytes.zip":
    "corrupt: 'bytes.zip': the central directory contradicts the local header of 'Level'",
  "bzip2.tar.bz2":
    "refused: 'bzip2.tar.bz2': is compressed with bzip2, which is not supported",
  "bzip2.zip":
    "refused: 'bzip2.zip': contains 'b', compressed with bzip2, which is not supported",
  "count.zip":
    "corrupt: 'count.zip': the central directory is longer than its entries",
  "crc.zip":
    "corrupt: 'crc.zip': 'Level' has a wrong checksum",
  "cut-block.aar":
    "corrupt: 'cut-block.aar': a block is cut short",
  "cut-xz.aar":
    "corrupt: 'cut-xz.aar': a compressed block is damaged",
  "cut.aar":
    "corrupt: 'cut.aar': a file is cut short",
  "cut.tar":
    "corrupt: 'cut.tar': a file is cut short",
  "cut.tar.gz":
    "corrupt: 'cut.tar.gz': compressed data is cut short",
  "cut.zip":
    "corrupt: 'cut.zip': the end of the zip file is missing",
  "data-link.aar":
    "refused: 'data-link.aar': contains 'd', which has content, but is not a file",
  "deep.tar":
    "refused: 'deep.tar': contains 'd/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/…', which is more than 2000 folders deep",
  "device.aar":
    "refused: 'device.aar': contains 'd', a device",
  "device.tar":
    "refused: 'device.tar': contains 'bad', a device",
  "dotdot-pax.tar":
    "refused: 'dotdot-pax.tar': contains '../b', whose name has a part '..'",
  "dotdot.aar":
    "refused: 'dotdot.aar': contains 'a/../../b', whose name has a part '..'",
  "dotdot.tar":
    "refused: 'dotdot.tar': contains 'a/../../b', whose name has a part '..'",
  "dotdot.zip":
    "refused: 'dotdot.zip': contains '../b', whose name has a part '..'",
  "empty-block.aar":
    "corrupt: 'empty-block.aar': an empty block is not the last one",
  "empty-part.tar":
    "refused: 'empty-part.tar': contains 'a//b', whose name has an empty part",
  "empty-target.aar":
    "refused: 'empty-target.aar': contains 'd', a link whose target is empty, too long, or has a NUL",
  "encrypted.aar":
    "refused: 'encrypted.aar': is an encrypted Apple Archive, which is not supported",
  "encrypted.zip":
    "refused: 'encrypted.zip': contains 'Level', which is encrypted",
  "far.zip":
    "corrupt: 'far.zip': 'Level' is outside the file's area for entries",
  "field.aar":
    "corrupt: 'field.aar': the field 'PAT' of an entry is damaged",
  "file-over-folder.tar":
    "refused: 'file-over-folder.tar': contains 'a', which has entries below it",
  "folder-bytes.zip":
    "refused: 'folder-bytes.zip': contains 'p', a folder with content",
  "global.tar":
    "refused: 'global.tar': has a global header with a name or size for all entries, which is not supported",
  "hard-link-later.tar":
    "refused: 'hard-link-later.tar': contains 'h', a hard link to 'z', which is not an earlier file",
  "hard-link-out.tar":
    "refused: 'hard-link-out.tar': contains '../out', whose name has a part '..'",
  "header.aar":
    "corrupt: 'header.aar': an entry's header is too short",
  "huge.tar":
    "refused: 'huge.tar': unpacks to more than 67108864 bytes, the limit",
  "local.zip":
    "corrupt: 'local.zip': the central directory contradicts the local header of 'Level'",
  "lone.tar":
    "corrupt: 'lone.tar': other bytes follow the end mark",
  "long-header.tar":
    "refused: 'long-header.tar': has a name or header of 1048593 bytes; the limit is 1 MiB",
  "long-part.tar":
    "refused: 'long-part.tar': contains 'pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp…', whose name has a part of more than 255 bytes",
  "longer.zip":
    "corrupt: 'longer.zip': 'Level' has another size than in the central directory",
  "lzbitmap.aar":
    "refused: 'lzbitmap.aar': is compressed with LZBITMAP, which is not supported",
  "lzma.zip":
    "refused: 'lzma.zip': contains 'b', compressed with LZMA, which is not supported",
  "magic.aar":
    "corrupt: 'magic.aar': an entry has an invalid header",
  "manifest.aar":
    "corrupt: 'manifest.aar': Manifest.json is not JSON with an assetPackID",
  "memory-xz.aar":
    "corrupt: 'memory-xz.aar': a compressed block is damaged",
  "negative.tar":
    "corrupt: 'negative.tar': a header has a wrong checksum or number",
  "no-data.aar":
    "refused: 'no-data.aar': contains 'd', a file without its content",
  "no-end.tar":
    "corrupt: 'no-end.tar': the archive, which does not have its end mark, is cut short",
  "no-name.aar":
    "refused: 'no-name.aar': contains a file or link without a name",
  "no-target.aar":
    "refused: 'no-target.aar': contains 'd', a link without a target",
  "no-xz.aar":
    "corrupt: 'no-xz.aar': a compressed block is damaged",
  "not-utf8.aar":
    #"refused: 'not-utf8.aar': contains 'z\xff', whose name is not UTF-8"#,
  "not-utf8.tar":
    #"refused: 'not-utf8.tar': contains 'z\xff\xfezt', whose name is not UTF-8"#,
  "not-utf8.zip":
    #"refused: 'not-utf8.zip': contains 'z\xff\xfez', whose name is not UTF-8"#,
  "nothing":
    "wrong kind: 'nothing': empty",
  "nul.aar":
    "refused: 'nul.aar': contains 'a�b', whose name has a NUL",
  "overlap.zip":
    "corrupt: 'overlap.zip': entries overlap",
  "parts.zip":
    "refused: 'parts.zip': is one part of a zip file, which is not supported",
  "patch.aar":
    "refused: 'patch.aar': is a patch or a list of files, which is not supported",
  "pax.tar":
    "corrupt: 'pax.tar': a pax header is damaged",
  "pipe.tar":
    "refused: 'pipe.tar': contains 'bad', a pipe",
  "pipe.zip":
    "refused: 'pipe.zip': contains 'p', a pipe",
  "prefix.zip":
    "refused: 'prefix.zip': has 9 bytes before the zip file",
  "seven.7z":
    "refused: 'seven.7z': is a 7z archive, which is not supported",
  "shorter.zip":
    "corrupt: 'shorter.zip': 'Level' has another size than in the central directory",
  "socket.aar":
    "refused: 'socket.aar': contains 'd', a socket",
  "sparse-pax.tar":
    "corrupt: 'sparse-pax.tar': the map of the sparse file 's' is damaged",
  "sparse-version.tar":
    "refused: 'sparse-version.tar': contains 's', a sparse file of an unknown version",
  "sparse-overlap.tar":
    "corrupt: 'sparse-overlap.tar': the map of the sparse file 's' is damaged",
  "sparse-long.tar":
    "corrupt: 'sparse-long.tar': the map of the sparse file 's' is damaged",
  "sparse-bomb.tar":
    "refused: 'sparse-bomb.tar': unpacks to more than 67108864 bytes, the limit",
  "sparse-pieces.tar":
    "refused: 'sparse-pieces.tar': contains 's', a sparse file of more than 1000000 pieces",
  "sparse-end.tar":
    "corrupt: 'sparse-end.tar': the map of the sparse file 's' is damaged",
  "stored-size.aar":
    "refused: 'stored-size.aar': has a block of 4611686018427387904 bytes; the limit is 16 MiB",
  "sum.tar":
    "corrupt: 'sum.tar': a header has a wrong checksum or number",
  "sum.tar.gz":
    "corrupt: 'sum.tar.gz': compressed data is damaged",
  "text.tar":
    "wrong kind: 'text.tar': not an archive of a known kind",
  "trailing-xz.aar":
    "corrupt: 'trailing-xz.aar': a compressed block is damaged",
  "trailing.tar":
    "corrupt: 'trailing.tar': other bytes follow the end mark",
  "trailing.tar.gz":
    "corrupt: 'trailing.tar.gz': other bytes follow the compressed data",
  "trailing.zip":
    "refused: 'trailing.zip': has 4 bytes after the end of the zip file",
  "twice.aar":
    "refused: 'twice.aar': contains 'empty', twice",
  "twice.tar":
    "refused: 'twice.tar': contains 'a', twice",
  "twice.zip":
    "refused: 'twice.zip': contains 'aa', twice",
  "two-fields.aar":
    "refused: 'two-fields.aar': has an entry with the field 'PAT' twice",
  "unknown.aar":
    "refused: 'unknown.aar': is compressed with an unknown code, '?', which is not supported",
  "unknown.tar":
    "refused: 'unknown.tar': contains 'u', of kind 'Z', which is not supported",
  "volume.tar":
    "refused: 'volume.tar': is one of several volumes, which are not supported",
  "whiteout.aar":
    "refused: 'whiteout.aar': contains 'd', a whiteout",
  "window.tar.zst":
    "refused: 'window.tar.zst': needs more than 8 MiB of memory to decompress",
  "wrong-field.aar":
    "refused: 'wrong-field.aar': has a field 'TYP' of the wrong type",
  "xz.tar.xz":
    "refused: 'xz.tar.xz': is compressed with xz, which is not supported",
]
