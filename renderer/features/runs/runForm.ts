import * as v from 'valibot'
import { number, type ReadForm, readForm } from '#renderer/components/fields/readForm.ts'
import { type RunAction, RunRequest } from '#shared/automation/run.ts'
import type { WatchRun } from '#shared/automation/watch.ts'

/** The form's input. */
export interface RunFormFields {
  command: string
  name: string
  fetches: boolean
  fetch: string
  afterwards: RunAction
  watchdog: boolean
  stuck: boolean
  /** Minutes. */
  stuckMinutes: string
  afterwardsIfStuck: boolean
}

export const emptyRun: RunFormFields = {
  command: '',
  name: '',
  fetches: false,
  fetch: '',
  afterwards: 'nothing',
  watchdog: false,
  stuck: true,
  stuckMinutes: '30',
  afterwardsIfStuck: false,
}

/** The form's fields for a saved run. */
export function runFormFieldsOf(run: WatchRun): RunFormFields {
  const { command, name, fetch = '', afterwards, watchdog, stuckAfter, afterwardsIfStuck } = run
  return {
    command,
    // A name that was derived from the command is derived again when the command changes.
    name: name === command.trim() ? '' : name,
    fetches: fetch !== '',
    fetch,
    afterwards,
    watchdog,
    stuck: stuckAfter > 0,
    stuckMinutes: stuckAfter > 0 ? String(stuckAfter / 60) : emptyRun.stuckMinutes,
    afterwardsIfStuck,
  }
}

/** The time of the stuck warning is required where the warning is on. */
const TypedRun = v.object({
  ...RunRequest.entries,
  stuckAfter: v.pipe(RunRequest.entries.stuckAfter, v.minValue(1, 'at least a second')),
})

/** The request with the chosen download folder, or the errors by field. */
export function readRun(fields: RunFormFields, into: string | undefined): ReadForm<RunRequest> {
  const name = fields.name.trim()
  return readForm(
    fields.stuck ? TypedRun : RunRequest,
    {
      command: fields.command,
      name: name || undefined,
      ...(fields.fetches && { fetch: fields.fetch.trim(), into }),
      afterwards: fields.afterwards,
      watchdog: fields.afterwards !== 'nothing' && fields.watchdog,
      stuckAfter: fields.stuck ? Math.round(number(fields.stuckMinutes, 60)) : 0,
      afterwardsIfStuck: fields.stuck && fields.afterwardsIfStuck,
    },
    path => (path === 'stuckAfter' ? 'stuckMinutes' : path),
  )
}

/** The steps after the run's end, in sentences. */
export function afterwardsWords(
  { fetches, fetch, afterwards, watchdog }: RunFormFields,
  into: string,
): string {
  const steps = [
    ...(fetches ? [`${fetch.trim() || 'the folder'} is downloaded to ${into}`] : []),
    ...(afterwards === 'nothing'
      ? []
      : [`the instance is ${afterwards === 'stop' ? 'stopped' : 'destroyed, with all data on it'}`]),
  ]
  if (steps.length === 0) return 'When it ends, you’re notified, and the instance keeps running.'
  const sentences = [`When it ends, ${steps.join(', and then ')}.`]
  if (fetches)
    sentences.push(
      afterwards === 'nothing'
        ? 'If Berth can’t reach it, it keeps trying.'
        : 'If Berth can’t reach it, it keeps trying; if the download fails, you get an alert. ' +
            'The instance keeps running until all files are here.',
    )
  if (afterwards !== 'nothing' && watchdog) sentences.push(watchdogWords(fetches, afterwards))
  else if (fetches && afterwards !== 'nothing')
    sentences.push('You pay for it meanwhile, unless a limit stops it.')
  return sentences.join(' ')
}

/** The watchdog's action and its time: it never destroys files that are still to be downloaded. */
function watchdogWords(fetches: boolean, afterwards: RunAction): string {
  if (fetches)
    return (
      'If nothing is downloaded within 15 min, for example while this computer sleeps, the watchdog stops the instance. ' +
      'Its files stay, and are downloaded once you start it again.'
    )
  return `While this computer sleeps, the watchdog ${afterwards === 'stop' ? 'stops' : 'destroys'} it, 5 min after the end.`
}

/** The same in a few words, before the rental: then `python train.py`, fetch /workspace/out, destroy. */
export function runBriefly({
  command,
  fetch,
  afterwards,
}: Pick<RunRequest, 'command' | 'fetch' | 'afterwards'>): { command: string; steps: string } {
  const line = command.trim().split('\n')[0] ?? ''
  const steps = [
    ...(fetch === undefined ? [] : [`download ${fetch}`]),
    ...(afterwards === 'nothing' ? [] : [afterwards]),
  ]
  return {
    command: line.length > 60 || line !== command.trim() ? `${line.slice(0, 60)}…` : line,
    steps: steps.map(step => `, ${step}`).join(''),
  }
}
