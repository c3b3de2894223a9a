import { named } from '#shared/format/name.ts'
import { harmless } from '#shared/instance/file-names.ts'
import { BerthError } from '#shared/problem.ts'

/** The connection was lost during a request, which can be repeated on another connection. */
export class SftpLost extends Error {
  constructor() {
    super('The connection was lost.')
    this.name = 'SftpLost'
  }
}

/** Status codes of SFTP version 3. */
const noSuchFile = 2
const permissionDenied = 3
const unsupported = 8

/** A refusal by the server, in words for the user. `doing` is a clause such as `delete /a/b`, already `harmless`. */
export function fileRefused(error: unknown, doing: string): BerthError {
  const code = codeOf(error)
  if (code === noSuchFile)
    return new BerthError({
      code: 'no_such_file',
      message: `Couldn’t ${doing}: it doesn’t exist.`,
      advice: 'List the folder again.',
    })
  if (code === permissionDenied)
    return new BerthError({
      code: 'file_denied',
      message: `The instance doesn’t allow Berth to ${doing}.`,
      advice: 'Its owner or mode forbids it, or the disk is read-only.',
    })
  if (code === unsupported)
    return new BerthError({
      code: 'file_unsupported',
      message: `The instance’s SFTP server doesn’t support how Berth would ${doing}.`,
    })
  const detail = error instanceof Error ? harmless(error.message.slice(0, 200)) : ''
  return new BerthError({
    code: 'file_failed',
    message: `The instance could not ${doing}${detail === '' || detail === 'Failure' ? '' : `: ${detail}`}.`,
    advice: 'The disk may be full, the folder not empty, or the name taken.',
  })
}

export function isMissing(error: unknown): boolean {
  return (
    codeOf(error) === noSuchFile || (error instanceof BerthError && error.problem.code === 'no_such_file')
  )
}

export function noSftp(why: string): BerthError {
  return new BerthError({
    code: 'no_sftp',
    message: `The instance accepts the login but serves no files: ${why}.`,
    advice:
      'Its image may lack an SFTP server (openssh-sftp-server), or a start file such as ~/.bashrc takes over the session.',
  })
}

export function unreadableName(): BerthError {
  return new BerthError({
    code: 'unreadable_name',
    message: 'This name isn’t UTF-8, so Berth can’t request it.',
    advice: 'Rename it in the terminal first.',
  })
}

/** `isReplaceable`: whether the user may choose to replace the existing files. */
export function existing(names: readonly string[], isReplaceable: boolean): BerthError {
  return new BerthError({
    code: 'exists',
    message: `${named(names.map(harmless), { most: 4 })} ${names.length === 1 ? 'already exists' : 'already exist'}.`,
    advice: isReplaceable ? 'Replace, or choose another name.' : 'Choose another name.',
  })
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
