import { weekdays } from '../format/time.ts'

/** A call that the service makes for the account again and again. */
export interface ScheduledJobView {
  id: number
  instance?: number | undefined
  /** What it calls: `PUT /instances/bid_price/123/`. */
  call: string
  /** `HOURLY`, `DAILY`, `WEEKLY` or another word of the service. */
  frequency?: string | undefined
  /** 0 is Sunday; hours in UTC. */
  day?: number | undefined
  hour?: number | undefined
}

/** A call that the service has noted. */
export interface NotedCallView {
  /** Epoch seconds. */
  at?: number | undefined
  call: string
  /** The id of its API key; 0 for the web console. */
  key?: number | undefined
  address?: string | undefined
}

/** What the service has kept of an instance or a volume whose machine goes away. */
export interface BackupView {
  /** The id of what it is of. */
  of: number
  isVolume: boolean
  /** Epoch seconds. */
  at?: number | undefined
  /** Whether it is whole, is still being made, or failed. */
  step: 'done' | 'pending' | 'failed'
  /** The service's words. */
  info?: string | undefined
}

/** The folder of a backup in which the files of an instance or a volume are. */
export function backupFolder({ isVolume }: Pick<BackupView, 'isVolume'>): string {
  return isVolume ? '/' : '/upper/workspace/'
}

/** `Changes the bid of #123`. */
export function jobTitle({ call, instance }: ScheduledJobView): string {
  const on = instance === undefined ? '' : ` of #${instance}`
  if (call.includes('bid_price')) return `Changes the bid${on}`
  if (call.includes('/rclone')) return `Copies files${on} with a cloud`
  if (call.includes('/command/')) return `Runs a command${instance === undefined ? '' : ` on #${instance}`}`
  return instance === undefined ? call : `${call} (#${instance})`
}

/** `Every Sunday at 02:00 UTC`. */
export function jobTimes({ frequency, day, hour }: ScheduledJobView): string {
  const at = hour === undefined ? '' : ` at ${String(hour).padStart(2, '0')}:00 UTC`
  if (frequency === 'HOURLY') return 'Every hour'
  if (frequency === 'DAILY') return `Every day${at}`
  const name = day === undefined ? undefined : weekdays[day]
  return frequency === 'WEEKLY' && name !== undefined ? `Every ${name}${at}` : (frequency ?? '')
}
