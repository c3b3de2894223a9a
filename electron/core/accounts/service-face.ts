import * as v from 'valibot'
import type { InstanceFace } from '../../service/instances.ts'
import { type DocumentOptions, openDocument } from '../storage/json-file.ts'

const Learnt = v.object({ instances: v.optional(v.picklist(['v0', 'v1'])) })

export interface ServiceFace extends InstanceFace {
  /** Whether the deployment goes beyond the interface: one that has the newer list does. */
  beyondInterface(): boolean
  flush(): Promise<void>
}

/** What was learnt of how an account's service lists its instances, kept over restarts. */
export async function openFace(
  place: Pick<DocumentOptions<v.GenericSchema>, 'files' | 'clock' | 'name' | 'onBroken'>,
): Promise<ServiceFace> {
  const document = await openDocument({ ...place, schema: Learnt, empty: {} })
  return {
    get: () => document.get().instances,
    set: version => void document.record(() => ({ instances: version })),
    beyondInterface: () => document.get().instances === 'v1',
    flush: document.flush,
  }
}
