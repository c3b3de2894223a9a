/** The best-known public service of the kind that Berth is a client of. */
export const vast = {
  name: 'Vast.ai',
  baseUrl: 'https://console.vast.ai',
  /** Where its users make keys. */
  keys: 'https://cloud.vast.ai/manage-keys/',
}

/** Which service the form is filled in for: the preset's, or one that is typed in. */
export type ConnectService = 'vast' | 'other'

export function serviceAt(baseUrl: string): ConnectService {
  return baseUrl.trim().replace(/\/$/, '') === vast.baseUrl ? 'vast' : 'other'
}

/** What Berth asks a key for, the needed ones first, and why. */
export const wantedPermissions: readonly { name: string; why: string }[] = [
  { name: 'instance_read', why: 'see your instances and their logs' },
  { name: 'instance_write', why: 'rent, start, stop and destroy' },
  { name: 'user_read', why: 'show your credit, and whose key it is' },
  { name: 'misc', why: 'search offers' },
  { name: 'billing_read', why: 'show what was charged, rather than an estimate' },
  { name: 'user_write', why: 'change keys, templates and webhooks; leave it out if you do that elsewhere' },
]
