import type { AST } from '@eslint-community/regexpp'
import { Chars, getConsumedChars, type ReadonlyFlags, toUnicodeSet } from 'regexp-ast-analysis'
import { analyse } from 'scslre'

type CharSet = ReturnType<typeof getConsumedChars>['chars']

/** Quantifiers count as bounded up to so many repetitions. */
const bounded = 1000

/**
 * Why an expression may take more than linear time; empty for one that never does. It checks for text that two parts of
 * it can divide between them in many ways, and for text in which many starting points each read the same rest again and
 * fail.
 */
export function slowness(literal: { source: string; flags: string }): string[] {
  const { reports, parsed } = analyse(literal)
  const divided = reports.flatMap(report => {
    if (report.type === 'Self') return [`${report.quant.raw} repeats within ${report.parentQuant.raw}`]
    if (report.type === 'Trade')
      return [`${report.startQuant.raw} and ${report.endQuant.raw} take the same text`]
    return []
  })
  const again = [
    ...reports.flatMap(report => (report.type === 'Move' ? [report.quant.raw] : [])),
    ...restarts(parsed),
  ]
  return [...divided, ...[...new Set(again)].map(raw => `${raw} is read again from each of many places`)]
}

/**
 * Finds quantifiers whose text may contain many starts of the expression, while its rest may fail. An analysis by
 * single repeated characters misses those that start with a word: `/token\w*:/`.
 */
function restarts({ pattern, flags }: { pattern: AST.Pattern; flags: AST.Flags }): string[] {
  if (flags.sticky) return []
  const found: string[] = []

  function alternative(
    elements: readonly AST.Element[],
    before: readonly AST.Element[],
    mayFail: boolean,
  ): void {
    elements.forEach((element, at) => {
      const after = elements.slice(at + 1)
      visit(element, [...before, ...elements.slice(0, at)], canFail(element, after, mayFail))
    })
  }

  function visit(element: AST.Element, before: readonly AST.Element[], mayFail: boolean): void {
    if (element.type === 'Group' || element.type === 'CapturingGroup')
      for (const { elements } of element.alternatives) alternative(elements, before, mayFail)
    if (element.type === 'Assertion' && 'alternatives' in element)
      for (const { elements } of element.alternatives) alternative(elements, before, true)
    if (element.type !== 'Quantifier') return
    const { chars } = getConsumedChars(element, flags)
    if (element.max > bounded && mayFail && !before.some(one => bars(one, chars, flags)))
      found.push(element.raw)
    visit(element.element, before, mayFail)
  }

  function canFail(element: AST.Element, after: readonly AST.Element[], mayFail: boolean): boolean {
    const all = element.type === 'Quantifier' && getConsumedChars(element, flags).chars.isAll
    return after.some(one => !alwaysMatches(one, all)) || mayFail
  }

  for (const { elements } of pattern.alternatives) alternative(elements, [], false)
  return found
}

/** Whether an element matches wherever it is tried. `afterAll`: it follows a quantifier that takes any text. */
function alwaysMatches(element: AST.Element, afterAll: boolean): boolean {
  if (element.type === 'Quantifier') return element.min === 0 || alwaysMatches(element.element, afterAll)
  if (element.type === 'Group' || element.type === 'CapturingGroup')
    return element.alternatives.some(({ elements }) => elements.every(one => alwaysMatches(one, afterAll)))
  return afterAll && element.type === 'Assertion' && element.kind === 'end'
}

/** Whether an element cannot match within a run of these characters. */
function bars(element: AST.Element, run: CharSet, flags: ReadonlyFlags): boolean {
  switch (element.type) {
    case 'Quantifier':
      return element.min > 0 && bars(element.element, run, flags)
    case 'Group':
    case 'CapturingGroup':
      return element.alternatives.every(({ elements }) => elements.some(one => bars(one, run, flags)))
    case 'Assertion':
      return assertionBars(element, run, flags)
    case 'Backreference':
      return false
    default:
      return toUnicodeSet(element, flags).chars.isDisjointWith(run)
  }
}

function assertionBars(assertion: AST.Assertion, run: CharSet, flags: ReadonlyFlags): boolean {
  if (assertion.kind === 'word') {
    const word = Chars.word(flags)
    return !assertion.negate && (run.isSubsetOf(word) || run.isDisjointWith(word))
  }
  if (!('alternatives' in assertion))
    return assertion.kind === 'start' && (!flags.multiline || run.isDisjointWith(Chars.lineTerminator(flags)))
  // Only lookarounds at a single character are judged.
  const [one, more] = assertion.alternatives
  const [character, next] = one?.elements ?? []
  if (more !== undefined || next !== undefined || character === undefined) return false
  if (
    character.type !== 'Character' &&
    character.type !== 'CharacterClass' &&
    character.type !== 'CharacterSet'
  )
    return false
  const { chars } = toUnicodeSet(character, flags)
  return assertion.negate ? run.isSubsetOf(chars) : run.isDisjointWith(chars)
}
