import { bytes as inBytes } from '#shared/format/size.ts'
import { harmless } from '#shared/instance/file-names.ts'
import { BerthError } from '#shared/problem.ts'

/** `room`: bytes to send and bytes free, if known. */
export function diskFull(remote: string, room?: { bytes: number; free: number }): BerthError {
  const figures = room && ` The files take ${inBytes(room.bytes)}, and ${inBytes(room.free)} are free.`
  return new BerthError({
    code: 'disk_full',
    message: `The instance’s disk is full at ${remote}.${figures ?? ''}`,
    advice: 'Free some space there, then try again. Files that arrived aren’t sent again.',
  })
}

export function syncRefused(remote: string): BerthError {
  return new BerthError({
    code: 'sync_refused',
    message: `${remote} on the instance isn’t a folder, or can’t be created or opened.`,
    advice: 'Choose another folder. Its owner or mode may forbid it, or the disk is full or read-only.',
  })
}

/** `errorText`: the error text of the instance, which is not trusted. */
export function syncFailed(remote: string, errorText: string): BerthError {
  const why = harmless(errorText.trim().slice(0, 300))
  return new BerthError({
    code: 'sync_failed',
    message: `The instance couldn’t store everything sent to ${remote}${why === '' ? '' : `: ${why}`}.`,
    advice: `Each file there is either the old or the new version. ${remedyFor(missingProgram(errorText))}, then try again.`,
  })
}

const remedyFor = (missing: string | undefined) =>
  missing === undefined
    ? 'Check the permissions'
    : `${missing} is missing there: install it or use another image`

/** The program that a shell there didn't find, as dash, busybox and bash say it; undefined where they name none. */
function missingProgram(errorText: string): string | undefined {
  return /(?:^|[\s:])([A-Za-z][\w.+-]{0,40}): (?:command )?not found\s*$/m.exec(errorText.slice(0, 4000))?.[1]
}

export function wrongArchive(remote: string): BerthError {
  return new BerthError({
    code: 'sync_failed',
    message: `The data from ${remote} on the instance doesn’t match the request.`,
    advice: 'Files that arrived complete are kept. Try again; its tar may be broken.',
  })
}

export function changedMeanwhile(path: string): BerthError {
  return new BerthError({
    code: 'changed_meanwhile',
    message: `${path} was changed while it was being sent.`,
    advice: 'Send the folder again.',
  })
}

export function needsOtherTar(path: string): BerthError {
  return new BerthError({
    code: 'no_tar',
    message: `The instance’s tar can’t handle the name ${harmless(path)}.`,
    advice: 'Install GNU tar there, or give it a shorter name of plain letters.',
  })
}
