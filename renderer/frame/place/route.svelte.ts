/** Where the page is: `#/instances/4711/ports` is the screen `instances` with the rest `['4711', 'ports']`. */
class Route {
  screen = $state('instances')
  rest: readonly string[] = $state.raw([])

  /** Follows the address; gives the function that ends this. */
  run(): () => void {
    const follow = () => this.#read()
    follow()
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }

  go(path: string): void {
    location.hash = `#/${path}`
  }

  /** Goes without leaving a step to come back to. */
  replace(path: string): void {
    history.replaceState(null, '', `#/${path}`)
    this.#read()
  }

  #read(): void {
    const [screen, ...rest] = location.hash.replace(/^#\/?/, '').split('/').filter(Boolean)
    this.screen = screen ?? 'instances'
    if (rest.join('/') !== this.rest.join('/')) this.rest = rest
  }
}

export const route = new Route()
