/** The file of a part of the page is gone, as after an update under a page that stayed open. */
export const notLoaded = {
  code: 'not_loaded',
  message: 'This part of the page could not be loaded.',
  advice: 'Try again, or reload the page. If Berth was updated, start it again.',
}
