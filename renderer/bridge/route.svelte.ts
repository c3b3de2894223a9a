/** Where the page is: `#/instances/4711/ports` is the screen `instances` with the rest `['4711', 'ports']`. */
class Route {
  /** Empty while the address names none: then Berth says where it opens. */
  screen = $state('')
  rest: readonly string[] = $state.raw([])
  /** Which step of the history this is: steps are numbered, to distinguish back from forward. */
  #step = 0
  /** Whether a step back was asked for and is still to come: a second one would leave the list, too. */
  #isGoingBack = false

  /** The instance that is all of the page, in a window or tab of its own; elsewhere, or once the address leads away, undefined. */
  get alone(): string | undefined {
    return location.search === '?details' && this.screen === 'instances' ? this.rest[0] : undefined
  }

  /** Follows the address; gives the function that ends this. */
  run(): () => void {
    const follow = () => this.#follow()
    follow()
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }

  go(path: string): void {
    location.hash = `#/${path}`
  }

  /** To the list of instances, with the row of a rental in sight and focused. */
  goToRented(rental: string | undefined): void {
    this.go(rental === undefined ? 'instances' : `instances/rented/${rental}`)
  }

  /** Whether the address has changed since it was read: someone is on the way elsewhere. */
  get leaving(): boolean {
    return addressed().join('/') !== [this.screen, ...this.rest].filter(Boolean).join('/')
  }

  /** Leaves a list's details: as Back does where the list led here, so that Back does not return to them. */
  backTo(list: string): void {
    if (this.#isGoingBack) return
    this.#isGoingBack = stateOf(history.state)?.from === list
    if (this.#isGoingBack) history.back()
    else this.go(list)
  }

  /** Opens an instance's details as a separate page: under Electron a window, in a browser a tab. */
  openAlone(path: string): void {
    window.open(`?details#/${path}`)
  }

  /**
   * Opens a link into the page in a tab of its own, where that is asked for: one that the browser opens by itself has no
   * token.
   */
  openApart = (event: MouseEvent): void => {
    const isAskedFor = event.ctrlKey || event.metaKey || event.shiftKey || event.button === 1
    if (!isAskedFor || event.button > 1 || event.defaultPrevented || window.berth) return
    const link = event.target instanceof Element ? event.target.closest('a[href^="#/"]') : null
    if (!link) return
    event.preventDefault()
    window.open(link.getAttribute('href') ?? '')
  }

  /** Goes without leaving a step to come back to. */
  replace(path: string): void {
    history.replaceState(history.state, '', `#/${path}`)
    this.#read()
  }

  /** Back while a dialog is open closes it, as Escape does, and leaves the page where it is. */
  #follow(): void {
    this.#isGoingBack = false
    const step = stateOf(history.state)?.step
    if (step === undefined) {
      this.#step += 1
      const from = [this.screen, ...this.rest].join('/')
      history.replaceState({ step: this.#step, from } satisfies StepState, '')
    } else if (step < this.#step && openDialog()) {
      history.go(this.#step - step)
      const focused = document.activeElement ?? document.body
      focused.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }))
      return
    } else this.#step = step
    this.#read()
  }

  #read(): void {
    const [screen, ...rest] = addressed()
    this.screen = screen ?? ''
    if (rest.join('/') !== this.rest.join('/')) this.rest = rest
  }
}

function addressed(): string[] {
  return location.hash.replace(/^#\/?/, '').split('/').filter(Boolean)
}

/** What the history keeps of a step: its number, and the path that led to it. */
interface StepState {
  step: number
  from: string
}

function stateOf(state: unknown): Partial<StepState> | undefined {
  return typeof state === 'object' && state !== null ? state : undefined
}

function openDialog(): boolean {
  return (
    document.querySelector('[role=dialog][data-state=open], [role=alertdialog][data-state=open]') !== null
  )
}

export const route = new Route()
