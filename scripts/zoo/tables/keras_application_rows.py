"""Models of keras.applications."""
from table import HEAVY, LARGE_BATCH, Model

# Name, class, real and small side of the images, variants.
ROWS = (
    ('vgg16', 'VGG16', 64, 32, HEAVY), ('resnet50', 'ResNet50', 96, 33, HEAVY), ('resnet50v2', 'ResNet50V2', 96, 33, HEAVY),
    ('mobilenet', 'MobileNet', 96, 33, LARGE_BATCH), ('mobilenetv2', 'MobileNetV2', 96, 33, LARGE_BATCH),
    ('mobilenetv3small', 'MobileNetV3Small', 224, 33, LARGE_BATCH), ('mobilenetv3large', 'MobileNetV3Large', 96, 33, HEAVY),
    ('efficientnetb0', 'EfficientNetB0', 96, 33, HEAVY), ('efficientnetv2b0', 'EfficientNetV2B0', 96, 33, HEAVY),
    ('densenet121', 'DenseNet121', 75, 33, HEAVY), ('inceptionv3', 'InceptionV3', 99, 75, HEAVY),
    ('inceptionresnetv2', 'InceptionResNetV2', 75, 75, ('forward 1 f32', 'train 1 f32')), ('xception', 'Xception', 99, 71, HEAVY),
    ('nasnetmobile', 'NASNetMobile', 96, 33, ('forward 1 f32', 'forward 2 bf16', 'train 2 f32')),
    ('convnexttiny', 'ConvNeXtTiny', 96, 33, HEAVY),
)

def rows():
    return [Model(name, 'applications', builder, {'weights': None, 'input_shape': (side, side, 3), 'classifier_activation': None},
                  {'input_shape': (small, small, 3), 'classes': 49}, labels=True, variants=variants)
            for name, builder, side, small, variants in ROWS]
