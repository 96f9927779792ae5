// Package pathhistory counts the network paths of recent fabrics by application and site. It reads digests of
// conferences in the background, and only for applications whose counts are requested, so that a slow store
// delays no request.
package pathhistory
