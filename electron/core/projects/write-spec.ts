import { Document, isCollection } from 'yaml'
import { type ProjectDraft, type ProjectSpec, timeText } from '#contract/project/spec.ts'

/** Lists and objects that people write on one line. */
const onOneLine = [
  ['machine', 'gpu'],
  ['machine', 'region'],
  ['ports'],
  ['results'],
  ['stop'],
  ['failed'],
  ['outbid'],
  ['sweep'],
  ['volume'],
  ['cache'],
  ['from'],
]

/** A `berth.yaml` for a spec, for people to read and change. */
export function specText(spec: ProjectSpec): string {
  const document = new Document(written(spec))
  for (const path of onOneLine) {
    const node = document.getIn(path, true)
    if (isCollection(node)) node.flow = true
  }
  return document.toString({ lineWidth: 0 })
}

function written(spec: ProjectSpec): ProjectDraft {
  const { checkpoint, stop, failed, keep } = spec
  return {
    ...spec,
    keep: keep === undefined ? undefined : timeText(keep),
    checkpoint: checkpoint === undefined ? undefined : timeText(checkpoint),
    stop: stop && { ...stop, idle: stop.idle === undefined ? undefined : timeText(stop.idle) },
    failed: failed && { ...failed, keep: failed.keep === undefined ? undefined : timeText(failed.keep) },
  }
}
