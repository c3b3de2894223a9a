import { getContext, setContext, untrack } from 'svelte'

/** A titled part of a long screen. `part` names it in the address, as `settings/alerts`. */
export interface Section {
  title: string
  part: string
  element: HTMLElement
}

/** The parts of a long screen that are there now, from its top to its end. */
export class SectionList {
  all: readonly Section[] = $state.raw([])

  /** Adds one; gives the function that takes it away. */
  add(section: Section): () => void {
    const before = (a: Section, b: Section) =>
      a.element.compareDocumentPosition(b.element) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1
    this.all = [...untrack(() => this.all), section].sort(before)
    return () => {
      this.all = this.all.filter(other => other !== section)
    }
  }
}

/** A part's name in the address, unless it has another one. */
export function partName(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-')
}

const key = Symbol('sections')

export function provideSections(list: SectionList): void {
  setContext(key, list)
}

/** The list of the screen that this is a part of, where it has one. */
export function useSections(): SectionList | undefined {
  return getContext<SectionList | undefined>(key)
}
