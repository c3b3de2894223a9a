import type { UpdateView } from '#contract/app/update.ts'

/** A step of an update that the user can take. */
export type UpdateStep = 'check' | 'fetch' | 'install'

/** The status of an update as a sentence, and the step and label of the button beside it. */
export function updateWords(update: UpdateView): { sentence: string; step?: UpdateStep; verb?: string } {
  switch (update.status) {
    case 'none':
      return {
        sentence: update.at === undefined ? 'Checked once a day.' : 'This is the newest version.',
        step: 'check',
        verb: 'Check now',
      }
    case 'checking':
      return { sentence: 'Checking for a newer version…' }
    case 'available':
      return { sentence: `Berth ${update.version} is available.`, step: 'fetch', verb: 'Download' }
    case 'fetching':
      return { sentence: `Downloading Berth ${update.version}: ${update.percent} %` }
    case 'ready':
      return {
        sentence: `Berth ${update.version} is ready. Installing it restarts Berth; your instances keep running.`,
        step: 'install',
        verb: 'Install and restart',
      }
    case 'failed':
      return {
        sentence: [update.problem.message, update.problem.advice].filter(Boolean).join(' '),
        step: 'check',
        verb: 'Try again',
      }
  }
}
