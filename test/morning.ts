/**
 * One o'clock of the next morning in local time, in milliseconds since 1970. In a world that starts then, no day or
 * month ends during the first hours of a test, whenever that runs.
 */
export function nextMorning(): number {
  const now = new Date()
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 1).getTime()
}
