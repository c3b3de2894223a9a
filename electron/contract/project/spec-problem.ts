/** An error in `berth.yaml`. Lines and columns begin at 1. */
export interface SpecProblem {
  line: number
  column: number
  message: string
}

/** An error with its place: `line 2, column 1: runn is not known.` */
export function specProblemWords({ line, column, message }: SpecProblem): string {
  return `line ${line}, column ${column}: ${message}`
}
