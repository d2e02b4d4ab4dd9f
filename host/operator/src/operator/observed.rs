//! Digests of pods, put to the images of an inventory.

use aibom_facts::image::ImageId;
use aibom_facts::inventory::Inventory;

use super::world::pods::Digests;

/// Adds what pods run to the images that they run it for: by name of the container and image as written.
pub fn observe(inventory: &mut Inventory, digests: &Digests) {
    if digests.0.is_empty() {
        return;
    }
    for image in &mut inventory.images {
        for ((container, written), ids) in &digests.0 {
            if **written == *image.written && image.containers.iter().any(|own| own.name == **container) {
                image.observed.extend(ids.iter().filter_map(|id| ImageId::parse(id)));
            }
        }
    }
}
