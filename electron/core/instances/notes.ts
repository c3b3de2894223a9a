import * as v from 'valibot'
import { type InstanceNote, NoteTags, NoteText } from '#shared/instance/instance.ts'
import { type CollectionContext, openCollection } from '../storage/collection.ts'

const Stored = v.object({ instance: v.number(), note: NoteText, tags: NoteTags })

/** Notes are kept beyond their instances' ends, the latest of them. */
const most = 500

/** The user's notes and tags of one account's instances. */
export async function openNotes(context: CollectionContext) {
  const notes = await openCollection(context, {
    name: 'notes',
    schema: Stored,
    key: ({ instance }) => instance,
    prune: { isOver: () => true, most },
    view: all => ({
      notes: Object.fromEntries(all.map(({ instance, note, tags }) => [instance, { note, tags }])),
    }),
  })
  return {
    /** On disk once it resolves; rejects with `not_written`. An empty note without tags is removed. */
    async write(instance: number, { note, tags }: InstanceNote): Promise<void> {
      if (note === '' && tags.length === 0) {
        if (notes.find(instance)) await notes.remove(instance)
      } else await notes.add({ instance, note, tags: [...tags] })
    },
    show: notes.show,
  }
}
