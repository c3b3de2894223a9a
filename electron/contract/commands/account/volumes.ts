import type { VolumeView } from '#contract/account/volume.ts'
import { account, command, ServiceId } from '../command.ts'

/** Volumes of the account; `not_supported` where the service has none. */
export const volumeCommands = {
  listVolumes: command({ account }).answers<readonly VolumeView[]>(),
  /** Deletes all data on it. Refused while an instance mounts it. */
  deleteVolume: command({ account, id: ServiceId }).answers<void>(),
}
