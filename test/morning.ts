/**
 * One o'clock of the next morning here, in milliseconds since 1970: in a world that begins then, no day and no month
 * ends while a test goes through some hours of it, whenever that test runs.
 */
export function nextMorning(): number {
  const now = new Date()
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 1).getTime()
}
