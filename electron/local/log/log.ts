import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Log } from '../../ports/log.ts'
import { createMask } from './mask.ts'
import { RotatingFile, type Rotation } from './rotating-file.ts'

/** A megabyte, and three full ones before it. */
const usual: Rotation = { largest: 1024 * 1024, kept: 3 }

/** Lines that are remembered, for diagnostics. */
const remembered = 200

/** Characters of a line: whatever is longer is cut. */
const longest = 4_000

export interface OpenLog extends Log {
  /** As `line`, but written when it returns: for a process that is about to end. */
  lastLine(text: string): void
  /** Resolves when what was said is written. */
  close(): Promise<void>
}

/** Lines with their time, masked, in a file that only the user can read. */
export async function openLog(path: string, rotation: Rotation = usual): Promise<OpenLog> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = new RotatingFile(path, rotation)
  const mask = createMask()
  const recent = (await file.open()).slice(-remembered)

  /** Masked before it is cut: half a secret looks like none. */
  function written(text: string): string {
    const line = mask(text).replaceAll(/[\r\n]+/g, ' ')
    const whole = `${new Date().toISOString()} ${line.length > longest ? `${line.slice(0, longest)}…` : line}`
    recent.push(whole)
    if (recent.length > remembered) recent.shift()
    return whole
  }

  return {
    line: text => file.add(written(text)),
    lastLine: text => file.addNow(written(text)),
    learn: mask.learn,
    mask,
    recent: () => recent,
    close: () => file.flush(),
  }
}
