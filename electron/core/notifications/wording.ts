import type { InstanceView } from '../../contract/instance/instance.ts'
import type { Micros } from '../../contract/spending/money.ts'

/** `$48.20`, `−$7.43` */
export function dollars(amount: Micros): string {
  const figure = (Math.abs(amount) / 1_000_000).toLocaleString('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  })
  return `${amount < 0 && /[1-9]/.test(figure) ? '−' : ''}$${figure}`
}

/** `$0.412/h`: three digits, since prices differ in the third. */
export function pricePerHour(price: Micros): string {
  return `$${(price / 1_000_000).toFixed(3)}/h`
}

/** `17 h 45 min`, `2 days 3 h`; seconds in. */
export function hoursAndMinutes(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  if (hours >= 48) return `${Math.floor(hours / 24)} days ${hours % 24} h`
  if (hours > 0) return `${hours} h ${minutes % 60} min`
  return `${minutes} min`
}

const timeOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const dayAndTime = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

/** `18:00`, or `Mon 23 Nov, 18:00` on another day, by the calendar of this machine. Epoch seconds. */
export function clockTime(at: number, now: number): string {
  const sameDay = new Date(at * 1000).toDateString() === new Date(now * 1000).toDateString()
  return (sameDay ? timeOfDay : dayAndTime).format(at * 1000)
}

/** The label and id as people say them: `llama-finetune #4711`, or `RTX 4090 #4711` without a label. */
export function instanceName({ id, label, gpu }: Pick<InstanceView, 'id' | 'label' | 'gpu'>): string {
  return `${label ?? gpu?.name ?? 'Instance'} #${id}`
}
