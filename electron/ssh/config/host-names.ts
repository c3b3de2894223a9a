/** An instance to be named in the SSH config. */
export interface Named {
  account: string
  instance: number
  label?: string
}

/** The most characters of a label that a host name contains. */
const longest = 40

/**
 * The `Host` names of each instance, all beginning with `berth-`: by its number, and by its label made safe. A name
 * that two instances would share is given to neither; the instance's number or account is added to it, so that nobody
 * connects to the wrong machine. If the demo and a real account share a number, the real one gets it.
 */
export function hostNames(instances: readonly Named[]): string[][] {
  const real = instances.filter(({ account }) => account !== 'demo')
  const numbers = countOf(instances.map(({ instance }) => String(instance)))
  const realNumbers = countOf(real.map(({ instance }) => String(instance)))
  const labels = countOf(instances.map(({ label }) => safeLabel(label)))

  const wanted = instances.map(({ account, instance, label }) => {
    const number = String(instance)
    const alone = numbers.get(number) === 1 || (account !== 'demo' && realNumbers.get(number) === 1)
    const byNumber = alone ? number : `${number}-${account}`
    const safe = safeLabel(label)
    if (safe === undefined) return [byNumber]
    return [byNumber, labels.get(safe) === 1 ? safe : `${safe}-${byNumber}`]
  })
  // A label may equal a name of another instance: then it is dropped, and the number stays.
  const taken = countOf(wanted.flat())
  return wanted.map(([byNumber = '', byLabel]) =>
    (byLabel !== undefined && taken.get(byLabel) === 1 ? [byNumber, byLabel] : [byNumber]).map(
      name => `berth-${name}`,
    ),
  )
}

/** Lower-case letters, digits and single dashes; undefined if nothing is left, or it looks like a number. */
export function safeLabel(label: string | undefined): string | undefined {
  const safe = (label ?? '')
    .slice(0, 10 * longest)
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, longest)
    .replaceAll(/^-|-$/g, '')
  return safe === '' || /^[0-9-]+$/.test(safe) ? undefined : safe
}

function countOf(names: readonly (string | undefined)[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}
