import * as v from 'valibot'

/** What a machine can be reported for, in the service's own words, which it takes to the letter. */
export const machineProblems = [
  'Unable To Start Instance',
  'Instance Takes Too Long To Load',
  'Instance Has Less Disk Space Than Requested',
  'Machine Has Port Issues',
  'Machine Performance Is Less Than Expected',
  'Other',
] as const

/** The characters of a message that the service keeps. */
export const longestReport = 512

/** A renter's report on the machine of an instance, which its host is told of. */
export const MachineReport = v.object({
  problem: v.picklist(machineProblems),
  message: v.pipe(v.string(), v.trim(), v.maxLength(longestReport, `at most ${longestReport} characters`)),
})
export type MachineReport = v.InferOutput<typeof MachineReport>

/** A problem as a sentence would have it: `Unable to start instance`. */
export function problemWords(problem: MachineReport['problem']): string {
  return problem.charAt(0) + problem.slice(1).toLowerCase()
}
