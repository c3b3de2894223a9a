/** The page's one ticking clock: epoch milliseconds of this machine, each second while the page is seen. */
class Now {
  ms = $state(Date.now())

  /** Starts the clock; returns the function that stops it. */
  run(): () => void {
    let timer: ReturnType<typeof setInterval> | undefined
    const tick = () => {
      this.ms = Date.now()
    }
    const follow = () => {
      clearInterval(timer)
      if (document.hidden) return
      tick()
      timer = setInterval(tick, 1000)
    }
    follow()
    document.addEventListener('visibilitychange', follow)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', follow)
    }
  }
}

export const now = new Now()
