/** The event types in the interface (section 6); others of the same form are accepted too. */
export const shownEventTypes = ['client:low_credit', 'client:outbid', 'host:machine_offline'] as const

/** The two parts of an event type `<audience>:<name>`; undefined for a text of another form. */
export function readEventType(text: string): { audience: string; name: string } | undefined {
  const match = /^([a-z][a-z0-9_]*):([a-z][a-z0-9_]*)$/.exec(text)
  const [, audience, name] = match ?? []
  return audience === undefined || name === undefined ? undefined : { audience, name }
}
