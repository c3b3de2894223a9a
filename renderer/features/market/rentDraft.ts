import type { Limit } from '#shared/automation/limit.ts'
import type { RecoveryChoice } from '#shared/automation/recovery.ts'
import type { RegistryLogin, RentRequest } from '#shared/market/rent-request.ts'

/** The rent dialog as typed: texts, so that nothing is lost and every mistake is shown at its field. */
export interface RentDraft {
  image: string
  access: RentRequest['access']
  /** Whether directly at the machine, with the proxy as fallback. */
  direct: boolean
  /** Both count only with Jupyter as the way in. */
  jupyterLab: boolean
  jupyterFolder: string
  /** GB. */
  disk: string
  env: EnvRow[]
  /** `8080, 9000:80, 53/udp`: outside:inside where they differ. */
  ports: string
  onstart: string
  /** Replaces the image's command; counts only with neither SSH nor Jupyter. */
  args: string
  volume: VolumeDraft
  registry: RegistryLogin
  label: string
  /** Dollars per hour; counts only for an interruptible rental. */
  bid: string
  /** Once it is outbid: with a bid only. */
  recovery: RecoveryChoice['kind']
  /** The highest bid of that, dollars per hour. */
  ceiling: string
  /** GB that are expected on the first day; empty for none. */
  traffic: string
  /** What stops it. */
  limits: readonly Limit[]
}

export interface EnvRow {
  /** Tells rows apart while they are added and removed. */
  key: number
  name: string
  value: string
  secret: boolean
}

/** A volume as typed: to link by its id, or to create on the machine that is rented (section 2.4). */
export interface VolumeDraft {
  mode: 'none' | 'link' | 'new'
  /** The id of the one to link. */
  volume: string
  /** Of a new one. */
  name: string
  /** GB. */
  size: string
  mountPath: string
}

export const noVolume: VolumeDraft = { mode: 'none', volume: '', name: '', size: '', mountPath: '' }

/** A new volume as it is first filled in. */
export function newVolume(name: string): VolumeDraft {
  return { mode: 'new', volume: '', name, size: '50', mountPath: '/data' }
}

/** What Berth may do once a machine is outbid, by name. */
export const recoveryNames: Readonly<Record<RecoveryChoice['kind'], string>> = {
  tell: 'Notify only',
  raise: 'Raise the bid',
  replace: 'Move',
}
