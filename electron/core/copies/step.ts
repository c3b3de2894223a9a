import { isOver } from '#shared/account/transfer.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { instancesOf, type Transfer } from './record.ts'

/** Seconds by which the status line lags (section 4.3), with reserve: before, it may be about an earlier transfer. */
export const lateness = 45
/** Seconds without a report after which a transfer no longer counts as running. */
export const patience = 180
/** Seconds without a report after which a transfer is given up; a sync soon, since its key is on the machine. */
export const longestCopySilence = { copy: 86_400, sync: 900 }

type Instances = Readonly<
  Record<string, Pick<InstanceView, 'statusMessage'> & Partial<Pick<InstanceView, 'state'>>>
>

/**
 * A transfer's progress after a poll. `others` are the account's other transfers, whose lines must not be taken for its
 * own; `now` in epoch seconds of the account's time.
 */
export function follow(
  transfer: Transfer,
  others: readonly Transfer[],
  instances: Instances,
  now: number,
): Transfer {
  if (transfer.step === 'starting' || isOver(transfer)) return transfer
  const age = now - transfer.startedAt
  const line = lineOf(transfer, others, instances)
  if (line !== undefined && age >= lateness) {
    const { progress, end } = readLine(line, [transfer.from.path, transfer.to.path])
    if (end)
      return {
        ...transfer,
        step: end,
        message: line,
        progress: end === 'done' ? 1 : transfer.progress,
        reportedAt: now,
        endedAt: now,
      }
    return {
      ...transfer,
      step: 'running' as const,
      message: line,
      progress: progress ?? transfer.progress,
      reportedAt: now,
    }
  }
  const gone = instancesOf(transfer).find(id => instances[id] === undefined)
  if (gone !== undefined)
    return {
      ...transfer,
      step: 'unknown',
      message: `Instance #${gone} is gone from the account, so it’s unknown whether the transfer finished.`,
      endedAt: now,
    }
  const halted = instancesOf(transfer).find(id => instances[id]?.state === 'stopped')
  if (transfer.kind === 'sync' && halted !== undefined && age >= lateness)
    return {
      ...transfer,
      step: 'unknown',
      message: `Instance #${halted} was stopped, so it’s unknown whether the transfer finished.`,
      endedAt: now,
    }
  const silence = now - (transfer.reportedAt ?? transfer.startedAt + lateness)
  if (transfer.step === 'unknown' && silence >= longestCopySilence[transfer.kind])
    return { ...transfer, message: 'The service hasn’t reported on it for a while.', endedAt: now }
  if (transfer.step === 'unknown' || silence < patience) return transfer
  const message =
    transfer.reportedAt === undefined ? 'The service doesn’t report it.' : 'The service no longer reports it.'
  return { ...transfer, step: 'unknown', message }
}

/**
 * The status line about a transfer: one that names both its paths, or one without any path where no other transfer of
 * its kind can be meant.
 */
function lineOf(transfer: Transfer, others: readonly Transfer[], instances: Instances): string | undefined {
  const rivals = others.filter(other => other.startedAt >= transfer.startedAt || !isOver(other))
  for (const id of instancesOf(transfer)) {
    const line = instances[id]?.statusMessage
    if (line === undefined || !speaksOf(transfer.kind, line, [transfer.from.path, transfer.to.path])) continue
    const near = rivals.filter(
      other => other.kind === transfer.kind && instancesOf(other).some(at => at === id),
    )
    if (names(line, transfer)) {
      // The service reports the latest transfer: of two between the same paths, the later one.
      if (!near.some(other => names(line, other) && other.startedAt > transfer.startedAt)) return line
    } else if (near.length === 0 && !/[/\\]\S/.test(line)) return line
  }
  return undefined
}

function names(line: string, { from, to }: Transfer): boolean {
  return namesPath(line, from.path) && namesPath(line, to.path)
}

/** The meaning of a transfer's status line. */
interface Saying {
  /** 0 to 1. */
  progress?: number
  end?: 'done' | 'failed' | 'cancelled'
}

/** The number of characters read of a status line, enough for two paths. */
const longest = 16_384

const endings = [
  ['cancelled', /\bcancell?ed\b|\baborted\b/i],
  ['failed', /\bfail(ed|ure)?\b|\berror\b|\bdenied\b|no such file/i],
  ['done', /\b(done|complete[d]?|finished|succeeded|successful(ly)?)\b/i],
] as const

/**
 * Parses an instance's status line, which has the progress (section 4.3). Its format is not documented, so only
 * unmistakable parts count: a percentage, and a word for the end outside the paths.
 */
export function readLine(line: string, paths: readonly string[]): Saying {
  const rest = withoutPaths(line, paths)
  const end = endings.find(([, words]) => words.test(rest))?.[0]
  if (end) return { end }
  const percent = /(\d{1,3}(?:\.\d+)?)\s*%/.exec(rest)?.[1]
  if (percent === undefined || Number(percent) > 100) return {}
  return { progress: Number(percent) / 100 }
}

/** Whether the line is about a transfer of this kind. */
export function speaksOf(kind: 'copy' | 'sync', line: string, paths: readonly string[]): boolean {
  const rest = withoutPaths(line, paths)
  return kind === 'copy' ? /\bcop(y|ying|ied)\b|\brsync\b/i.test(rest) : /\bsync|\brclone\b/i.test(rest)
}

/** Whether the line names exactly this path, not a longer one that contains it. */
function namesPath(line: string, path: string): boolean {
  const goesOn = /[\p{L}\p{N}_./\\-]/u
  const text = line.slice(0, longest)
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
    const [before, after] = [text.charAt(at - 1), text.charAt(at + path.length)]
    if (!goesOn.test(before) && !goesOn.test(after)) return true
  }
  return false
}

/** Removes the paths, as a name such as `/done` means nothing. */
function withoutPaths(line: string, paths: readonly string[]): string {
  const longestFirst = [...paths].sort((a, b) => b.length - a.length)
  return longestFirst
    .reduce((text, path) => text.replaceAll(path, ' '), line.slice(0, longest))
    .split(/\s+/)
    .filter(word => !/[/\\]/.test(word))
    .join(' ')
}
