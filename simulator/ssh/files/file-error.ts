/** A file operation that failed, with the code that the operating system would give. */
export class FileError extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.name = 'FileError'
    this.code = code
  }
}

const reasons: Record<string, string> = {
  EACCES: 'Permission denied',
  EEXIST: 'File exists',
  EFBIG: 'File too large',
  EINVAL: 'Invalid argument',
  EISDIR: 'Is a directory',
  ELOOP: 'Too many levels of symbolic links',
  EMFILE: 'Too many open files',
  ENAMETOOLONG: 'File name too long',
  ENOENT: 'No such file or directory',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  EPERM: 'Operation not permitted',
}

/** The code of a failed file operation, `EIO` where there is none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EIO'
}

/** What a shell prints about a failed file operation. Never names a path of this machine. */
export function reason(error: unknown): string {
  return reasons[errorCode(error)] ?? 'Input/output error'
}
