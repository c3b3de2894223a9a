import type { MachineAnswer, MachineView, WorkergroupView } from '#contract/account/hosting.ts'
import { count, reliability } from '#contract/format/size.ts'

/** "2 expired contracts went." */
export function cleanedWords({ deleted = 0 }: MachineAnswer): string {
  if (deleted === 0) return 'No expired contracts to remove.'
  return deleted === 1 ? '1 expired contract removed.' : `${count(deleted)} expired contracts removed.`
}

/** The facts of a machine, in a line. */
export function machineFacts(machine: MachineView): string {
  const { gpuName, gpuCount, location, verification, listed } = machine
  return [
    gpuName === undefined ? undefined : `${gpuCount ?? 1} × ${gpuName}`,
    location,
    machine.reliability === undefined ? undefined : `${reliability(machine.reliability)} reliable`,
    verification,
    listed === undefined ? undefined : listed ? 'listed' : 'not listed',
  ]
    .filter(fact => fact !== undefined && fact !== '')
    .join('\u00a0· ')
}

/** The facts of a workergroup, in a line. */
export function workergroupFacts(group: WorkergroupView): string {
  const { endpointName, endpointId, templateHash, templateId, searchParams, launchArgs } = group
  return [
    endpointName === undefined && endpointId !== undefined ? `endpoint #${endpointId}` : undefined,
    templateHash === undefined ? undefined : `template ${templateHash}`,
    templateId === undefined ? undefined : `template #${templateId}`,
    templateHash === undefined && templateId === undefined ? searchParams : undefined,
    launchArgs === undefined ? undefined : `launched with ${launchArgs}`,
    group.minLoad === undefined ? undefined : `load at least ${group.minLoad}`,
    group.targetUtilisation === undefined ? undefined : `utilisation ${group.targetUtilisation}`,
  ]
    .filter(fact => fact !== undefined && fact !== '')
    .join(' · ')
}
