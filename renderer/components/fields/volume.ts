/** A volume as typed: to link by its id, or to create from a volume offer (section 2.4). */
export interface VolumeDraft {
  mode: 'none' | 'link' | 'new'
  /** The id of the volume, or of the volume offer. */
  volume: string
  /** GB. */
  size: string
  mountPath: string
}

export const noVolume: VolumeDraft = { mode: 'none', volume: '', size: '', mountPath: '' }
