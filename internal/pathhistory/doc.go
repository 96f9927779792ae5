// Package pathhistory counts the network paths of recent fabrics by application and site. It reads digests of
// conferences in the background, and only for applications that somebody asks about, so that a slow store delays
// nobody.
package pathhistory
