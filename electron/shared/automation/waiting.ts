import { duration } from '../format/time.ts'
import type { Problem } from '../problem.ts'

/** What a run's step waits for, with the words for it. */
const waits = {
  time: 'Waiting for its time to begin',
  offer: 'Waiting for an offer that fits',
  another: 'Waiting for another machine',
  answer: 'Waiting for the service to say which instance it rented',
  choice: 'Waiting for you to say which new instance it is',
  boot: 'Waiting for the machine to boot',
  ssh: 'Waiting for SSH on the machine',
  machine: 'Waiting for the machine to run',
  nodes: 'Waiting for the other machines',
  network: 'Waiting for a network of the machines',
  folder: 'Waiting for the machine to take the folder',
  copy: 'Waiting for what the last machine has newer to be copied',
  start: 'Waiting for the machine to start the program',
  output: 'No output',
  retry: 'Waiting to try the command again',
  save: 'Waiting for the command to save before its machine is stopped',
  results: 'Waiting for the machine to send the results',
  end: 'Waiting for the machine to be ended',
  service: 'Waiting for the service, which doesn’t answer',
} as const
export type WaitsFor = keyof typeof waits

/** What the present step of a run, or a sweep, waits for. Times in epoch seconds of the account's time. */
export interface Waiting {
  for: WaitsFor
  since: number
  /** Why the last try failed. */
  problem?: Problem
  /** When it's tried again; absent while a try is under way, or where it goes on by itself. */
  nextTryAt?: number
  /** When it fails or is given up, if nothing changes; absent where it waits for as long as it takes. */
  givesUpAt?: number
}

/** Seconds after which a step says what it waits for: with the pauses of those who show it, at most fifteen. */
export const longestSilence = 12

/** Whether people should hear of it by now. */
export function isLongWait({ for: what, since, problem }: Waiting, now: number): boolean {
  return what === 'time' || what === 'save' || problem !== undefined || now - since >= longestSilence
}

/** Whether a run has no machine and rents none yet: it waits for its time, or for an offer. */
export function isBeforeRenting(run: { waiting?: Waiting; instance?: number }): boolean {
  return run.instance === undefined && (run.waiting?.for === 'time' || run.waiting?.for === 'offer')
}

/** The same for a narrow row, after the word *Waiting*: `begins in 4 h`, `for an offer that fits`. */
export function beforeRentingWords({ for: what, nextTryAt }: Waiting, now: number): string {
  if (what !== 'time') return 'for an offer that fits'
  return nextTryAt === undefined || nextTryAt <= now ? 'begins now' : `begins in ${duration(nextTryAt - now)}`
}

/** What it waits for, after other words: `waiting for SSH on the machine`. */
export function waitsForWords({ for: what }: Waiting): string {
  return `${waits[what].charAt(0).toLowerCase()}${waits[what].slice(1)}`
}

/** `Waiting for SSH on the machine for 2 min. Next try in 15 s. Gives up in 25 min.`, without the last error. */
export function waitingWords(waiting: Waiting, now: number): string {
  const { for: what, since, nextTryAt, givesUpAt, problem } = waiting
  const left = (at: number) => duration(Math.ceil(Math.max(1, at - now)))
  const verb = what === 'time' ? 'Begins' : 'Next try'
  const next = nextTryAt === undefined || nextTryAt <= now ? 'Trying now.' : `${verb} in ${left(nextTryAt)}.`
  return [
    `${waits[what]} for ${duration(Math.max(0, now - since))}.`,
    ...(problem === undefined && what !== 'time' ? [] : [next]),
    ...(givesUpAt === undefined || givesUpAt <= now ? [] : [`Gives up in about ${left(givesUpAt)}.`]),
  ].join(' ')
}

/** The same with the last error, for one line. */
export function waitingLine(waiting: Waiting, now: number): string {
  const { problem } = waiting
  return `${waitingWords(waiting, now)}${problem ? ` Last error: ${problem.message}` : ''}`
}
