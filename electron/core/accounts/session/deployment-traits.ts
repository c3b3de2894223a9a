import * as v from 'valibot'
import { type DocumentOptions, openDocument } from '#core/storage/json-file.ts'
import type { InstanceListTraits } from '#service/instances.ts'

const Learnt = v.object({
  instances: v.optional(v.picklist(['v0', 'v1'])),
  offersBeyond: v.optional(v.literal(true)),
})

export interface DeploymentTraits extends InstanceListTraits {
  /** Whether the deployment goes beyond the interface: it has the newer list, or its offers have more fields. */
  beyondInterface(): boolean
  /** Records whether a search's offers go beyond the interface. */
  offersSeen(beyondInterface: boolean): void
  flush(): Promise<void>
}

/** Traits of an account's deployment, learnt from its answers and stored. */
export async function openDeploymentTraits(
  place: Pick<DocumentOptions<v.GenericSchema>, 'files' | 'clock' | 'name' | 'onBroken'>,
): Promise<DeploymentTraits> {
  const document = await openDocument({ ...place, schema: Learnt, empty: {} })
  return {
    get: () => document.get().instances,
    set: version => void document.record(learnt => ({ ...learnt, instances: version })),
    beyondInterface: () => document.get().instances === 'v1' || document.get().offersBeyond === true,
    offersSeen(beyondInterface) {
      if (beyondInterface === (document.get().offersBeyond === true)) return
      void document.record(({ instances }) => ({ instances, offersBeyond: beyondInterface || undefined }))
    },
    flush: document.flush,
  }
}
