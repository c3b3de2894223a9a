/** The best-known public service that Berth is a client of. */
export const vast = {
  name: 'Vast.ai',
  baseUrl: 'https://console.vast.ai',
  /** Where its users make keys. */
  keys: 'https://cloud.vast.ai/manage-keys/',
}

/** The form's service: the preset, or another one whose address is typed. */
export type ConnectService = 'vast' | 'other'

export function serviceAt(baseUrl: string): ConnectService {
  return baseUrl.trim().replace(/\/$/, '') === vast.baseUrl ? 'vast' : 'other'
}

/** The service's name where it is known, else the account's. */
export function serviceName({ baseUrl, name }: { baseUrl: string; name: string }): string {
  return serviceAt(baseUrl) === 'vast' ? vast.name : name
}

/** The scopes that Berth needs of a key and why, the required ones first. */
export const wantedPermissions: readonly { name: string; why: string }[] = [
  { name: 'instance_read', why: 'see your instances and their logs' },
  { name: 'instance_write', why: 'rent, start, stop and destroy' },
  { name: 'user_read', why: 'show your credit, and whose key it is' },
  { name: 'misc', why: 'search offers' },
  { name: 'billing_read', why: 'show the actual charges instead of an estimate' },
  { name: 'user_write', why: 'change keys, templates and webhooks; leave it out if you do that elsewhere' },
]
