import { bytes as inBytes } from '#contract/format/size.ts'
import { harmless } from '#contract/instance/file-names.ts'
import { BerthError } from '#contract/problem.ts'

/** `room`: bytes to send and bytes free, if known. */
export function diskFull(remote: string, room?: { bytes: number; free: number }): BerthError {
  const figures = room && ` ${inBytes(room.bytes)} are to be sent and ${inBytes(room.free)} are free.`
  return new BerthError({
    code: 'disk_full',
    message: `The instance’s disk is full at ${remote}.${figures ?? ''}`,
    advice: 'Make room there, then try again: what arrived is not sent twice.',
  })
}

export function syncRefused(remote: string): BerthError {
  return new BerthError({
    code: 'sync_refused',
    message: `${remote} on the instance is no folder, or cannot be made or entered.`,
    advice: 'Name another folder; its owner or its mode may forbid it, or the disk is full or read-only.',
  })
}

/** `said`: the error text of the instance, which is not trusted. */
export function syncFailed(remote: string, said: string): BerthError {
  const why = harmless(said.trim().slice(0, 300))
  return new BerthError({
    code: 'sync_failed',
    message: `The instance could not take all that was sent to ${remote}${why === '' ? '' : `: ${why}`}.`,
    advice:
      'Each file there is either the old or the new one. Its owner or its mode may forbid it. Try again.',
  })
}

export function wrongArchive(remote: string): BerthError {
  return new BerthError({
    code: 'sync_failed',
    message: `What the instance sent from ${remote} doesn’t match the request.`,
    advice: 'What had come whole before is kept. Try again; its tar may be broken.',
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
    message: `The instance’s tar cannot take the name ${harmless(path)}.`,
    advice: 'Install GNU tar there, or give it a shorter name of plain letters.',
  })
}
