import type { RunAction, RunRequest } from '../../../../electron/contract/automation/run.ts'

/** What the form holds, as it is typed. */
export interface RunFields {
  command: string
  name: string
  fetches: boolean
  fetch: string
  atEnd: RunAction
  watchdog: boolean
  stuck: boolean
  /** Minutes. */
  stuckMinutes: string
  stuckEnds: boolean
}

export const emptyRun: RunFields = {
  command: '',
  name: '',
  fetches: false,
  fetch: '',
  atEnd: 'nothing',
  watchdog: false,
  stuck: true,
  stuckMinutes: '30',
  stuckEnds: false,
}

export type RunErrors = Partial<Record<'command' | 'fetch' | 'stuckMinutes', string>>

/** What is asked for, without its place, or which fields do not say it. */
export function readRun(
  fields: RunFields,
):
  | { wish: Omit<RunRequest, 'instance' | 'rental' | 'into'>; errors?: undefined }
  | { wish?: undefined; errors: RunErrors } {
  const errors: RunErrors = {}
  const fetch = fields.fetch.trim()
  const minutes = Number(fields.stuckMinutes.trim().replace(',', '.'))
  const stuckAfter = fields.stuck ? Math.round(minutes * 60) : 0
  if (fields.command.trim() === '') errors.command = 'Give the command to run.'
  if (fields.fetches && !fetch.startsWith('/')) errors.fetch = 'A path from the root, as /root/results.'
  if (fields.stuck && !(stuckAfter >= 1 && stuckAfter <= 30 * 86_400))
    errors.stuckMinutes = 'A number of minutes.'
  if (Object.keys(errors).length > 0) return { errors }
  return {
    wish: {
      command: fields.command,
      ...(fields.name.trim() === '' ? {} : { name: fields.name.trim() }),
      ...(fields.fetches ? { fetch } : {}),
      atEnd: fields.atEnd,
      watchdog: fields.atEnd !== 'nothing' && fields.watchdog,
      stuckAfter,
      stuckEnds: fields.stuck && fields.stuckEnds,
    },
  }
}

/** What will happen at its end, as one sentence. */
export function endWords({ fetches, fetch, atEnd, watchdog }: RunFields, into: string): string {
  const steps = [
    ...(fetches ? [`${fetch.trim() || 'the folder'} is fetched into ${into}`] : []),
    ...(atEnd === 'nothing'
      ? []
      : [`the instance is ${atEnd === 'stop' ? 'stopped' : 'destroyed, with all data on it'}`]),
  ]
  if (steps.length === 0) return 'When it ends, Berth says so, and the instance is left as it is.'
  const kept = fetches && atEnd !== 'nothing' ? ' What cannot be fetched keeps the instance as it is.' : ''
  const asleep =
    atEnd === 'nothing' || !watchdog
      ? ''
      : ` While this computer sleeps, the watchdog ${fetches || atEnd === 'stop' ? 'stops' : 'destroys'} it instead${fetches ? ', which keeps its disk' : ''}.`
  return `When it ends, ${steps.join(', and then ')}.${kept}${asleep}`
}
