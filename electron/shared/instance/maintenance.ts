import { atMoment, duration } from '../format/time.ts'

/** Work that a host has announced on an instance's machine. It stops nothing by itself. */
export interface MaintenanceView {
  /** Epoch seconds of the account's time. */
  from: number
  until: number
  /** The service's word for what is worked on, such as `disk` or `power`. */
  category?: string | undefined
}

/** `Its host announced maintenance (disk) on Sun 3 May, 14:00 for 2 h: it may go offline then.` */
export function maintenanceWords({ from, until, category }: MaintenanceView, now: number): string {
  const on = category === undefined || category === 'other' ? '' : ` (${category})`
  const length = duration(until - from)
  return from > now
    ? `Its host announced maintenance${on} ${atMoment(from, now)} for ${length}: it may go offline then.`
    : `Its host’s maintenance${on} goes on until ${atMoment(until, now).replace(/^(at|on) /, '')}: it may go offline.`
}
