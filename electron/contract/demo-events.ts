/** The events that the user can cause in the demo's market. */
export const demoEvents = ['hour_passes', 'low_credit', 'top_up', 'outbid', 'crash', 'host_offline'] as const
export type DemoEvent = (typeof demoEvents)[number]

/** A code that a real service would have sent to the user. */
export interface DemoMessage {
  channel: 'sms' | 'email'
  to: string
  code: string
}

const words: Record<DemoEvent, string> = {
  hour_passes: 'An hour passes',
  low_credit: 'The credit runs low',
  top_up: 'Credit is added',
  outbid: 'Get outbid',
  crash: 'A container crashes',
  host_offline: 'A host goes offline',
}

export const demoEventWords: readonly { event: DemoEvent; label: string }[] = demoEvents.map(event => ({
  event,
  label: words[event],
}))
