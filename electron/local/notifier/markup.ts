/** The service reads its body as a small markup language (Desktop Notifications Specification, section 5). */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
