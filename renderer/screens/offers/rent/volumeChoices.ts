import type { VolumeView } from '#contract/account/hosting.ts'
import { diskRoom } from '#contract/format/size.ts'

/**
 * The volumes on a machine, with their ids as text; undefined where there are none, so that one is named by its id.
 * `typed`: the form's id, which stays a choice even where it is not among them.
 */
export function volumeChoices(
  volumes: readonly VolumeView[],
  machine: number,
  typed: string,
): { value: string; label: string }[] | undefined {
  const there = volumes.filter(({ machineId }) => machineId === machine)
  if (there.length === 0) return undefined
  const choices = there.map(({ id, label, size }) => ({
    value: String(id),
    label: [label ?? `#${id}`, ...(size === undefined ? [] : [diskRoom(size)])].join(', '),
  }))
  const isOther = typed.trim() !== '' && !choices.some(({ value }) => value === typed.trim())
  return isOther ? [...choices, { value: typed, label: `#${typed.trim()}, not on this machine` }] : choices
}
