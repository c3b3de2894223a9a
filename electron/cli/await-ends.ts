import type { BerthConnection } from './connection.ts'
import { CliFailure, exitCodes } from './failure.ts'

/** Milliseconds to wait until a stop or destroy is seen, and after which the wait is told. */
const patience = 60_000
const told = 3_000

/**
 * Asks until `isOver`, again with each change of State. Rejects after a minute with `not_ended_yet` and the words for
 * what still goes on, and why; `say` gets them after a few seconds. The minute begins once nothing `isSaving` before its end.
 */
export async function awaitEnds(
  connection: BerthConnection,
  isOver: () => Promise<boolean>,
  rest: () => { words: string; problem: string | undefined; isSaving?: boolean },
  say: (line: string) => void = () => undefined,
): Promise<void> {
  let begun = performance.now()
  let isTold = false
  while (!(await isOver())) {
    if (rest().isSaving) begun = performance.now()
    const left = begun + patience - performance.now()
    if (!isTold && left < patience - told) {
      isTold = true
      say(`${rest().words}. Waiting up to a minute.`)
    }
    if (left <= 0) throw notEndedYet(rest())
    // Several wait on one connection, and one may take in a change for another.
    await Promise.race([connection.change(), later(Math.min(left, 1000))])
  }
}

function later(milliseconds: number): Promise<void> {
  return new Promise(resolve => {
    setTimeout(resolve, milliseconds).unref()
  })
}

function notEndedYet({ words, problem }: { words: string; problem: string | undefined }): CliFailure {
  return new CliFailure(exitCodes.failed, {
    code: 'not_ended_yet',
    message: problem === undefined ? `${words}.` : `${words}: ${problem}`,
    advice: 'Berth keeps trying while it runs. See: berth ps',
  })
}
