import { firstPart, type ReadForm, readForm, typedNumber } from '#renderer/components/fields/readForm.ts'
import { NetworkDiskRequest, WorkergroupRequest } from '#shared/account/hosting.ts'

/** The input of a network disk's form. */
export interface DiskDraft {
  onto: 'new' | 'existing'
  /** Id of the existing disk. */
  disk: string
  mountPoint: string
  /** Chosen from the list. */
  chosen: number[]
  /** Ids of further machines, with commas or spaces between them. */
  typed: string
}

export function readDisk({ onto, disk, mountPoint, chosen, typed }: DiskDraft): ReadForm<NetworkDiskRequest> {
  const ids = typed
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map(typedId)
  return readForm(
    NetworkDiskRequest,
    {
      mountPoint,
      machines: [...new Set([...chosen, ...ids])],
      disk: onto === 'existing' ? typedId(disk) : undefined,
    },
    firstPart,
  )
}

/** The input of a workergroup's form. Of two alternative fields, one is sent. */
export interface WorkergroupDraft {
  endpoint: 'name' | 'id'
  endpointName: string
  endpointId: string
  workers: 'hash' | 'id' | 'search'
  templateHash: string
  templateId: string
  searchParams: string
  launchArgs: string
  minLoad: string
  targetUtilisation: string
}

/** Section 2.9's defaults. */
export const emptyWorkergroup: WorkergroupDraft = {
  endpoint: 'name',
  endpointName: '',
  endpointId: '',
  workers: 'search',
  templateHash: '',
  templateId: '',
  searchParams: 'verified=true rentable=true rented=false',
  launchArgs: '',
  minLoad: '1.0',
  targetUtilisation: '',
}

export function readWorkergroup(draft: WorkergroupDraft): ReadForm<WorkergroupRequest> {
  const { endpoint, workers } = draft
  const text = (name: keyof WorkergroupRequest, value: string) =>
    value.trim() === '' ? {} : { [name]: value.trim() }
  const number = (name: keyof WorkergroupRequest, value: string) =>
    value.trim() === '' ? {} : { [name]: typedNumber(value) }
  return readForm(
    WorkergroupRequest,
    {
      ...(endpoint === 'name'
        ? text('endpointName', draft.endpointName)
        : { endpointId: typedId(draft.endpointId) }),
      ...(workers === 'hash' ? { templateHash: draft.templateHash } : {}),
      ...(workers === 'id' ? { templateId: typedId(draft.templateId) } : {}),
      ...(workers === 'search' ? text('searchParams', draft.searchParams) : {}),
      ...text('launchArgs', draft.launchArgs),
      ...number('minLoad', draft.minLoad),
      ...number('targetUtilisation', draft.targetUtilisation),
    },
    firstPart,
  )
}

/** The typed id, NaN for any other text. */
function typedId(text: string): number {
  const bare = text.trim().replace(/^#/, '')
  return /^\d+$/.test(bare) ? Number(bare) : Number.NaN
}
